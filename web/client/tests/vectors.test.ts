import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withStorage } from "./agent/storage.ts";
import { replay } from "./vectors/replay.ts";

withStorage();

const FOLDER = new URL("../../../spec/vectors/", import.meta.url);
const FILES = readdirSync(FOLDER);

test.each(FILES)("%s", async (file) => {
  const { count, differences } = await replay({ [file]: JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) });
  expect(differences).toEqual([]);
  expect(count).toBeGreaterThan(0);
});

test("a file that nothing replays is noticed", async () => {
  expect((await replay({ "new.json": {} })).differences).toHaveLength(1);
});
