/**
 * The search engines: one table, used by the content script and by the manifest.
 *
 * To add an engine, add a row, and a page in the form of its results to tests/content/pages.
 */
import { GOOGLE_ORIGINS, YANDEX_ORIGINS } from "./hosts.ts";
import { baiduTarget, bingTarget, parameter, type Unwrap } from "./redirects.ts";

/** What has to be known about a search engine to recognise a search and the result that was opened. */
export interface Engine {
  readonly name: string;
  /** Where it is found, as origins. Links to these are internal, or redirects. */
  readonly origins: readonly string[];
  /** Other sites of the same company with a search box that leads to it. */
  readonly doors?: readonly string[];
  /** The path of a page of web results, as a glob of a match pattern, and exactly. */
  readonly glob: string;
  readonly path: RegExp;
  /** The parameters that may contain the query. */
  readonly parameters: readonly string[];
  /** The search box, for pages that were requested by POST and do not have the query in their address. */
  readonly box?: string;
  /** Whether the parameters select something else than web results, such as images. */
  readonly other: (parameters: URLSearchParams) => boolean;
  /** Links to results, and what is paid for: links, or boxes around links. */
  readonly results: string;
  readonly ads: string;
  /** The path of redirect links, and where they lead. */
  readonly redirect: RegExp;
  readonly unwrap: Unwrap;
}

const GOOGLE: Engine = {
  name: "Google",
  origins: GOOGLE_ORIGINS,
  glob: "/search*",
  path: /^\/search$/,
  parameters: ["q"],
  other: (given) => given.has("tbm") || (given.has("udm") && given.get("udm") !== "14"), // 14: web results only
  results: ":is(#search, #rso, #botstuff) a:has(h3, [role='heading']), #main a[href^='/url?']:has(h3)",
  ads: "#tads, #tadsb, #bottomads, [data-text-ad], a[href*='googleadservices.com/']",
  redirect: /^\/url$/,
  unwrap: parameter("q", "url"), // `q` without scripts; with scripts, the page sets `url` when the mouse button goes down
};

const BING: Engine = {
  name: "Bing",
  origins: ["https://www.bing.com", "https://cn.bing.com"],
  doors: ["https://www.msn.com", "https://ntp.msn.com"],
  glob: "/search*",
  path: /^\/search$/,
  parameters: ["q"],
  other: () => false, // images, videos and news have paths of their own
  results: "#b_results .b_algo h2 a, #b_results .b_algo a.tilk",
  ads: ".b_ad, .b_adTop, .b_adBottom",
  redirect: /^\/ck\/a$/,
  unwrap: bingTarget,
};

const DUCKDUCKGO: Engine = {
  name: "DuckDuckGo",
  origins: ["https://duckduckgo.com", "https://html.duckduckgo.com", "https://lite.duckduckgo.com"],
  glob: "/*",
  path: /^\/(html\/?|lite\/?)?$/,
  parameters: ["q"],
  box: "input[name='q']",
  other: (given) => given.has("iax") || (given.has("ia") && given.get("ia") !== "web"),
  results:
    "a[data-testid='result-title-a'], a[data-testid='result-extras-url-link'], a.result__a, a.result__url, a.result-link",
  ads: "[data-testid='ad'], [data-layout='ad'], .result--ad, .result-sponsored",
  redirect: /^\/l\/$/,
  unwrap: parameter("uddg"),
};

const YANDEX: Engine = {
  name: "Yandex",
  origins: YANDEX_ORIGINS,
  doors: ["https://dzen.ru"],
  glob: "/search*",
  path: /^\/search\/(touch\/|pad\/)?$/,
  parameters: ["text"],
  other: () => false, // images, videos and maps have paths of their own
  results: ".serp-item a.OrganicTitle-Link, .serp-item a.organic__url",
  ads: "[data-fast-name='direct'], .serp-adv-item, .AdvLabel, a[href*='//yabs.yandex.'], a[href*='/an/count/']",
  redirect: /^\/clck\/(jsredir|redir)/,
  unwrap: parameter("url"), // often encrypted as `etext`: then only the query is recorded
};

const BAIDU: Engine = {
  name: "Baidu",
  origins: ["https://www.baidu.com", "https://m.baidu.com"],
  doors: ["https://www.hao123.com"],
  glob: "/*", // the first page shows results without loading another page
  path: /^\/s$/,
  parameters: ["wd", "word"],
  other: (given) => given.get("tn") === "news",
  results: "#content_left .c-container h3 a, #results .c-result a",
  ads: "[data-tuiguang], .ec_tuiguang_ppouter, .EC_result, [cmatchid]",
  redirect: /^\/(link|from=|bd_page_type=)/,
  unwrap: baiduTarget,
};

/** Every engine that the extension recognises. */
export const ENGINES: readonly Engine[] = [GOOGLE, BING, DUCKDUCKGO, YANDEX, BAIDU];

/** The match patterns of all engines, for the manifest. */
export function matchPatterns(): string[] {
  return ENGINES.flatMap(({ origins, glob }) => origins.map((origin) => origin + glob));
}
