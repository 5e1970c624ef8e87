import { expect, test } from "vitest";
import { Suggester } from "../src/wire/suggestions.ts";

const row = (query: string) => ({ query, share: 0.1, urls: [] });
const suggester = new Suggester(["weather paris", "weather", "web", "weather rome", "straße"].map(row));
const found = (typed: string, n = 8) => suggester.matching(typed, n).map(({ query }) => query);

test("the typed query comes first, then longer ones in the order of the bundle", () => {
  expect(found("  WEATHER ")).toEqual(["weather", "weather paris", "weather rome"]);
  expect(found("we")).toEqual(["weather paris", "weather", "web", "weather rome"]);
});

test("no more than were asked for", () => {
  expect([found("weather", 2), found("weather", 0), found("nothing")]).toEqual([["weather", "weather paris"], [], []]);
});
