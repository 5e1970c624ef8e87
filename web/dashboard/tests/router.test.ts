/** Addresses survive any text, and stay after the `#`. */
import { expect, test } from "vitest";
import { currentRoute, link } from "../src/router.ts";

test.each(["weather", "a/b", "50 % off", "#hash", "東京 天気", "..", "<b>"])("%s comes back", (query) => {
  expect(link("c", "searches", "q", query).startsWith("#/")).toBe(true);
  expect(currentRoute(link("c", "searches", "q", query))).toEqual(["c", "searches", "q", query]);
});

test("an edited address is no error", () => {
  expect(currentRoute("#/c/%E0%A4%A")).toEqual(["c", "%E0%A4%A"]);
  expect(currentRoute("")).toEqual([]);
});
