// @vitest-environment happy-dom
// Offline search in the popup: results while typing, by mouse and by keyboard.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { searchBox } from "../../src/pages/searchBox.ts";
import type { Suggestion } from "../../src/shared/messages.ts";
import { installChrome } from "./fakeChrome.ts";

const ROWS: Suggestion[] = [
  { query: "weather", share: 0.0208, urls: [["https://weather.example/today", 0.8]] },
  { query: "<b>wet</b>", share: 0.001, urls: [] },
  { query: "web", share: 0.0005, urls: [["javascript:alert(1)", 0.9], ["https://web.example/", 0.1]] }, // biome-ignore format: one row, one line
];

let box: HTMLElement;
let input: HTMLInputElement;
const suggest = vi.fn(async (typed: string) => (typed.startsWith("we") ? ROWS : []));

async function type(typed: string): Promise<void> {
  input.value = typed;
  input.dispatchEvent(new Event("input"));
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
}

function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

beforeEach(() => {
  installChrome();
  suggest.mockClear();
  box = searchBox(suggest);
  document.body.replaceChildren(box);
  input = box.querySelector("input") as HTMLInputElement;
  input.focus();
});

describe("the search box", () => {
  it("shows results while typing, as links and as text", async () => {
    await type("we");
    const items = [...box.querySelectorAll("li")];
    expect(items.map((item) => item.querySelector("a")?.getAttribute("href") ?? null)).toEqual([
      "https://weather.example/today",
      null,
      "https://web.example/",
    ]);
    expect(items[0]?.textContent).toBe("weather2.08% of all usersweather.example/today");
    expect(items[1]?.querySelector("b")).toBeNull();
    expect(box.querySelector("[role=status]")?.textContent).toBe("3 results");
  });

  it("says that nothing was found, and nothing at all for an empty box", async () => {
    await type("xyz");
    expect(box.querySelector("[role=status]")?.textContent).toBe("No popular query matches.");
    await type("  ");
    expect(box.querySelector("[role=status]")?.textContent).toBe("");
    expect(suggest).toHaveBeenCalledTimes(1);
  });

  it("ignores an answer to what was typed before", async () => {
    const waiting: ((rows: Suggestion[]) => void)[] = [];
    suggest.mockImplementation(() => new Promise((resolve) => waiting.push(resolve)));
    await type("w");
    await type("wx");
    waiting[1]?.([]);
    waiting[0]?.(ROWS);
    await new Promise((resolve) => setTimeout(resolve));
    expect(box.querySelectorAll("li")).toHaveLength(0);
    suggest.mockImplementation(async (typed) => (typed.startsWith("we") ? ROWS : []));
  });

  it("is usable with the keyboard", async () => {
    await type("we");
    const links = [...box.querySelectorAll("a")];
    press("ArrowDown");
    expect(document.activeElement).toBe(links[0]);
    press("ArrowDown");
    press("ArrowDown");
    expect(document.activeElement).toBe(links[1]);
    press("ArrowUp");
    press("ArrowUp");
    expect(document.activeElement).toBe(input);
    const opened = vi.fn((event: Event) => event.preventDefault());
    links[0]?.addEventListener("click", opened);
    press("Enter");
    expect(opened).toHaveBeenCalledOnce();
    press("Escape");
    await new Promise((resolve) => setTimeout(resolve));
    expect(input.value).toBe("");
    expect(box.querySelectorAll("li")).toHaveLength(0);
  });
});
