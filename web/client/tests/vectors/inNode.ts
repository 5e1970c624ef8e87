/** Replays all vectors in plain Node; the exit status says whether something differs. */
import "fake-indexeddb/auto";
import { readdirSync, readFileSync } from "node:fs";
import { Locks } from "../agent/locks.ts";
import { replay } from "./replay.ts";

const FOLDER = "../../spec/vectors/"; // from the client's folder, in which mutants.js starts it
Object.defineProperties(globalThis, {
  isSecureContext: { value: true },
  navigator: { value: { locks: new Locks() } },
});

const names = readdirSync(FOLDER);
const files = names.map((file) => [file, JSON.parse(readFileSync(FOLDER + file, "utf8"))]);
const { differences } = await replay(Object.fromEntries(files));
for (const difference of differences.slice(0, 3)) console.log(difference);
process.exitCode = differences.length ? 1 : 0;
