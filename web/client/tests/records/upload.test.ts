import { expect, test } from "vitest";
import { byteLength, uploadRecord, usableRecords } from "../../src/records/upload.ts";

test("unpaired surrogates have no bytes: the canonical form drops them", () => {
  expect(byteLength("a\ud800\udc00\udfff")).toBe(5);
  expect(uploadRecord(`google${"\ud800".repeat(5_000)}`, "google.com").query).toBe("google");
});

test("with one level the URL neither makes a record nor spoils it", () => {
  const records = usableRecords("maps", "https://maps.example/?token=1");
  expect([records[1], records[2]]).toEqual([
    { query: "maps", url: null },
    { query: null, url: null },
  ]);
});
