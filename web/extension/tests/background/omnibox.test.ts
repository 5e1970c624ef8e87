import { Suggester } from "@blender-dp/client";
import { beforeAll, describe, expect, test, vi } from "vitest";
import * as participant from "../../src/background/participant.ts";
import { freshBrowser } from "./browser.ts";

let omnibox: typeof import("../../src/background/omnibox.ts");

beforeAll(async () => {
  freshBrowser();
  omnibox = await import("../../src/background/omnibox.ts");
});

const row = (query: string, ...urls: string[]) => ({ query, share: 0.0209, urls: urls.map((url) => [url, 0.5] as const) });

test("a suggestion names the query, its page and its share", () => {
  const [suggestion] = omnibox.suggested([row("goo", "https://www.google.com/")], true);
  expect(suggestion).toEqual({
    content: "https://www.google.com/",
    description: "<match>goo</match> <url>https://www.google.com/</url> <dim>2.09 %</dim>",
  });
});

test("a query cannot become markup, nor make Chromium reject all suggestions", () => {
  const hostile = `</match><url>"&'\u0000\u001f\u0085\ud800\uffff\ufffe`;
  const [suggestion] = omnibox.suggested([row(hostile, "https://a.example/?x=<b>&y='")], true);
  expect(suggestion?.description).toBe(
    "<match>&lt;/match&gt;&lt;url&gt;&quot;&amp;&apos;</match> <url>https://a.example/?x=%3Cb%3E&amp;y=%27</url> <dim>2.09 %</dim>",
  );
});

test("Firefox gets plain text", () => {
  const [suggestion] = omnibox.suggested([row("a & b", "https://a.example/")], false);
  expect(suggestion?.description).toBe("a & b – https://a.example/ (2.09 %)");
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "chrome://settings",
  "moz-extension://own/popup.html",
  "view-source:https://a.example/",
  "blob:https://a.example/1",
  "https://user:password@a.example/",
  "//a.example/",
  "not a URL",
  "",
])("%j is never opened", (url) => expect(omnibox.suggested([row("a", url)], true)).toEqual([]));

test("the first page that can be opened is used", () => {
  const [suggestion] = omnibox.suggested([row("a", "javascript:0", "https://second.example")], true);
  expect(suggestion?.content).toBe("https://second.example/");
});

describe("what is typed and entered", () => {
  type Entered = (text: string, disposition: string) => Promise<void>;
  const tabs: unknown[] = [];
  type Changed = (text: string, suggest: (rows: unknown) => void) => Promise<void>;
  let entered: Entered = async () => {};
  let changed: Changed = async () => {};
  let [started, cancelled] = [() => {}, () => {}];

  beforeAll(() => {
    const note = (kind: string) => async (how: object) => tabs.push({ kind, ...how });
    Object.assign(chrome, {
      i18n: { getMessage: (key: string) => key },
      tabs: { update: note("update"), create: note("create") },
      omnibox: {
        setDefaultSuggestion: () => {},
        onInputStarted: { addListener: (listener: () => void) => (started = listener) },
        onInputChanged: { addListener: (listener: Changed) => (changed = listener) },
        onInputCancelled: { addListener: (listener: () => void) => (cancelled = listener) },
        onInputEntered: { addListener: (listener: Entered) => (entered = listener) },
      },
    });
    omnibox.registerOmnibox();
  });

  test.each([
    ["currentTab", { kind: "update", url: "https://a.example/" }],
    ["newForegroundTab", { kind: "create", url: "https://a.example/", active: true }],
    ["newBackgroundTab", { kind: "create", url: "https://a.example/", active: false }],
  ])("opens in %s", async (disposition, tab) => {
    tabs.length = 0;
    await entered("https://a.example", disposition);
    expect(tabs).toEqual([tab]);
  });

  test("the results are read once, when the user starts to type, and again for the next search", async () => {
    const rows = [row("weather", "https://weather.example/"), row("web", "https://web.example/")].map((one) => ({
      ...one,
      urls: one.urls.map(([url, share]) => [url, share] as [string, number]),
    }));
    const read = vi.spyOn(participant, "results").mockImplementation(async () => new Suggester(rows));
    const found: unknown[] = [];
    const contents = (of: unknown) => found.push((of as { content: string }[]).map(({ content }) => content));
    started();
    for (const typed of ["w", "wea", "x"]) await changed(typed, contents);
    expect(found).toEqual([["https://weather.example/", "https://web.example/"], ["https://weather.example/"], []]);
    expect(read).toHaveBeenCalledTimes(1);
    cancelled();
    await changed("web", contents); // without a start: the background was stopped meanwhile
    tabs.length = 0;
    await entered("weat", "currentTab");
    expect(tabs).toEqual([{ kind: "update", url: "https://weather.example/" }]);
    expect(read).toHaveBeenCalledTimes(2);
    await changed("web", contents);
    expect(read).toHaveBeenCalledTimes(3);
    read.mockRestore();
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "nothing of the kind"])("%j opens nothing", async (text) => {
    tabs.length = 0;
    await entered(text, "currentTab");
    expect(tabs).toEqual([]);
  });
});
