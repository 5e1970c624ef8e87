// Every engine on a page in the form of its results: what was searched, and where each link leads.
import { readFileSync } from "node:fs";
import { Window } from "happy-dom";
import { describe, expect, it } from "vitest";
import { matchPatterns } from "../../src/content/engines.ts";
import { engineAt, ledByOthers, openedBy, searchedFor } from "../../src/content/results.ts";

const TODAY = "https://tides.example/today";
const HARBOUR = "https://harbour.example/tides?port=3";

interface Case {
  readonly address: string;
  readonly query: string;
  /** Where a click on each element leads: an address, or null for no result (an ad, internal, or only the engine can tell). */
  readonly links: Readonly<Record<string, string | null>>;
}

const PAGES: Record<string, Case> = {
  google: {
    address: "https://www.google.com/search?q=tide+times&hl=en",
    query: "tide times",
    links: {
      direct: TODAY,
      title: TODAY,
      pressed: HARBOUR,
      further: HARBOUR,
      scriptless: HARBOUR,
      plain: "https://coast.example/%E6%BD%AE",
      mobile: "https://m.tides.example/",
      encrypted: null,
      snippet: null,
      internal: null,
      loop: null,
      script: null,
      ad: null,
      "ad-inside": null,
      "ad-below": null,
      next: null,
    },
  },
  bing: {
    address: "https://www.bing.com/search?q=tide%20times&form=QBLH",
    query: "tide times",
    links: {
      wrapped: TODAY,
      title: TODAY,
      site: TODAY,
      direct: HARBOUR,
      unicode: "https://coast.example/%E6%BD%AE",
      damaged: null,
      "not-utf-8": null,
      "without-www": null,
      relative: null,
      snippet: null,
      internal: null,
      ad: null,
      next: null,
    },
  },
  duckduckgo: {
    address: "https://duckduckgo.com/?t=h_&q=tide+times&ia=web",
    query: "tide times",
    links: { direct: TODAY, title: TODAY, site: TODAY, internal: null, ad: null },
  },
  "duckduckgo-html": {
    address: "https://html.duckduckgo.com/html/",
    query: "tide times",
    links: { wrapped: TODAY, site: TODAY, direct: HARBOUR, damaged: null, snippet: null, ad: null },
  },
  yandex: {
    address: "https://yandex.com/search/?text=tide+times&lr=10393",
    query: "tide times",
    links: {
      direct: TODAY,
      title: TODAY,
      wrapped: HARBOUR,
      service: "https://music.yandex.ru/chart",
      encrypted: null,
      internal: null,
      path: null,
      ad: null,
      "ad-inside": null,
      next: null,
    },
  },
  baidu: {
    address: "https://www.baidu.com/s?ie=utf-8&wd=%E6%BD%AE%E6%B1%90%E6%97%B6%E9%97%B4",
    query: "潮汐时间",
    links: {
      stated: TODAY,
      title: TODAY,
      service: "https://baike.baidu.com/item/tide/1",
      direct: HARBOUR,
      placeholder: null,
      encrypted: null,
      snippet: null,
      internal: null,
      ad: null,
    },
  },
};

function opened(name: string, address: string): Document {
  const page = new Window({ url: address });
  page.document.write(readFileSync(new URL(`pages/${name}.html`, import.meta.url), "utf8"));
  return page.document as unknown as Document;
}

function engine(address: string) {
  const found = engineAt(new URL(address));
  if (!found) throw new Error(`no engine at ${address}`);
  return found;
}

describe.each(Object.entries(PAGES))("%s", (name, { address, query, links }) => {
  const page = opened(name, address);

  it("finds the query", () => {
    expect(searchedFor(engine(address), new URL(address), page)).toBe(query);
  });

  it.each(Object.entries(links))("follows #%s to %s", (id, expected) => {
    const element = page.getElementById(id);
    expect(element && openedBy(engine(address), element, new URL(address))).toBe(expected);
  });

  it("is tested with every link of the page", () => {
    const ids = [...page.querySelectorAll("a")].map((link) => link.id);
    expect(ids.filter((id) => !(id in links))).toEqual([]);
  });
});

describe("what is not a search", () => {
  const empty = new Window().document as unknown as Document;

  it.each([
    "https://www.google.com/search?q=tide&tbm=isch",
    "https://www.google.com/search?q=tide&udm=2",
    "https://www.google.com/search?q=+",
    "https://www.google.com/search",
    "https://www.google.com/maps?q=tide",
    "https://www.bing.com/images/search?q=tide",
    "https://duckduckgo.com/?q=tide&iax=images&ia=images",
    "https://duckduckgo.com/about?q=tide",
    "https://yandex.com/images/search?text=tide",
    "https://www.baidu.com/s?tn=news&word=tide",
    "https://www.baidu.com/",
  ])("%s", (address) => {
    expect(searchedFor(engine(address), new URL(address), empty)).toBeNull();
  });

  it.each([
    "https://www.google.com/search?q=tide&udm=14",
    "https://m.baidu.com/s?word=tide",
    "https://ya.ru/search/?text=tide",
  ])("but %s is", (address) => {
    expect(searchedFor(engine(address), new URL(address), empty)).toBe("tide");
  });

  it.each([
    "http://www.google.com/search?q=a",
    "https://www.google.com.evil.example/search?q=a",
    "https://google.evil.example/",
  ])("no engine is at %s", (address) => {
    expect(engineAt(new URL(address))).toBeNull();
  });
});

describe("who led here", () => {
  const google = engine("https://www.google.com/");
  const bing = engine("https://www.bing.com/");

  it("is the user, from an address bar or another page of the engine", () => {
    expect(ledByOthers(google, "")).toBe(false);
    expect(ledByOthers(google, "https://www.google.de/")).toBe(false);
    expect(ledByOthers(bing, "https://www.msn.com/en-gb")).toBe(false);
  });

  it("is another website", () => {
    expect(ledByOthers(google, "https://blog.example/")).toBe(true);
    expect(ledByOthers(google, "https://www.msn.com/")).toBe(true);
  });
});

describe("the table", () => {
  it("gives the manifest one valid pattern per address, over https only", () => {
    const patterns = matchPatterns();
    expect(new Set(patterns).size).toBe(patterns.length);
    for (const pattern of patterns) expect(pattern).toMatch(/^https:\/\/[a-z0-9.-]+\/(search)?\*$/);
    expect(patterns).toContain("https://www.google.co.uk/search*");
    expect(patterns).toContain("https://www.baidu.com/*");
  });
});
