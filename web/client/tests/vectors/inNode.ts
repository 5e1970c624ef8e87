/** Replays all vectors in plain Node; the exit status says whether something differs. */
import "fake-indexeddb/auto";
import { readdirSync, readFileSync } from "node:fs";
import { replay } from "./replay.ts";

const FOLDER = `${process.env.BLENDER_DP_VECTORS ?? `${process.cwd()}/../../spec/vectors`}/`;
const last = new Map<string, Promise<unknown>>();
const request = <Result>(name: string, act: () => Promise<Result>): Promise<Result> => {
  const result = (last.get(name) ?? Promise.resolve()).then(act, act);
  last.set(name, result.catch(Boolean));
  return result;
};
Object.defineProperties(globalThis, {
  isSecureContext: { value: true },
  navigator: { value: { locks: { request } } },
});

const names = readdirSync(FOLDER);
const files = names.map((file) => [file, JSON.parse(readFileSync(FOLDER + file, "utf8"))]);
const { differences } = await replay(Object.fromEntries(files));
for (const difference of differences.slice(0, 3)) console.log(difference);
process.exitCode = differences.length ? 1 : 0;
