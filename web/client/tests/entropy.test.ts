import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { randomBytes } from "../src/entropy.ts";

const WEB = fileURLToPath(new URL("../..", import.meta.url));

test("more bytes than one call of the browser's generator fills", () => {
  const bytes = randomBytes(200_000);
  const start = (at: number) => bytes.subarray(at, at + 16).join();
  expect(bytes.length).toBe(200_000);
  // False alarm: 2^-128 for each of the four places.
  for (const at of [0, 65_536, 131_072, 199_984]) expect(start(at)).not.toBe(new Uint8Array(16).join());
});

test("no bytes", () => expect(randomBytes(0)).toEqual(new Uint8Array(0)));

test("nothing else in the client or the extension draws randomness", () => {
  const files = ["client/src", "extension/src"].flatMap((folder) =>
    readdirSync(WEB + folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const drawing = files.filter(
    (file) => file.endsWith(".ts") && /getRandomValues|Math\.random|randomUUID/.test(readFileSync(WEB + file, "utf8")),
  );
  expect(drawing).toEqual(["client/src/entropy.ts"]);
});
