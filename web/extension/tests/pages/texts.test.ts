// All texts are in one file: every key is used, and every key that is used exists.
import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { counted, percent, text } from "../../src/pages/texts.ts";
import { installChrome, MESSAGES } from "./fakeChrome.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDERS = ["src", "scripts"].map((name) => new URL(`${name}/`, ROOT));
const sources = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js)$/.test(name))
    .map((name) => readFileSync(new URL(name, folder), "utf8")),
).join("\n");

describe("the texts", () => {
  it("are all used", () => {
    const names = Object.keys(MESSAGES).map((key) => key.replace(/_(one|other)$/, ""));
    expect(names.filter((name) => !sources.includes(`"${name}"`) && !sources.includes(`__MSG_${name}__`))).toEqual([]);
  });

  it("exist for every key that the manifest uses (the compiler checks the pages)", () => {
    const used = [...sources.matchAll(/__MSG_(\w+)__/g)].map((found) => found[1] ?? "");
    expect(used.filter((key) => !(key in MESSAGES))).toEqual([]);
  });

  it("have both forms if they count, and say the number", () => {
    const counting = Object.keys(MESSAGES).filter((key) => key.endsWith("_other"));
    for (const key of counting) {
      expect(MESSAGES[key]?.message).toContain("$1");
      expect(MESSAGES).toHaveProperty(key.replace(/other$/, "one"));
    }
  });
});

describe("a text", () => {
  beforeEach(() => void installChrome());

  it("contains its values", () => {
    expect(text("aboutOptIn", "tides")).toContain("the curator of tides");
  });

  it("has a singular and a plural", () => {
    expect(counted("budgetRounds", 1)).toBe("Enough for 1 more round.");
    expect(counted("budgetRounds", 1200)).toBe("Enough for 1,200 more rounds.");
  });

  it("writes percentages as its language does", () => {
    expect(percent(0.0208, 2)).toBe("2.08%");
  });
});
