/** Every screen of the extension: a page, what the background responds, and what the user does before one looks at it. */
import type { Page } from "puppeteer-core";
import type { Status, Suggestion } from "../extension/src/shared/messages.ts";

export interface Screen {
  readonly name: string;
  readonly page: "consent" | "popup" | "options";
  /** The background's responses, by type of message. */
  readonly responses: Readonly<Record<string, unknown>>;
  readonly act?: (page: Page) => Promise<unknown>;
}

const CLIENT: Status = {
  consent: "client",
  invitation: {
    collector: "https://collector.example",
    campaign: "5a0c8ad7e0f14cf0a53f6c3a3d1f8c11",
    name: "popular-searches",
    epsilon: "4",
    delta: "1/1000000",
    lifetimeEpsilon: "48",
  },
  paused: false,
  left: false,
  stored: 17,
  spent: "12",
  remaining: "36",
  lastReport: {
    round: 3,
    body: `${JSON.stringify({ reports: [{ id: "9f86d081884c7d659a2feaa0c55ad015", head_list: "a3bf4f1b2b0b822cd15d6c15b0f00a08".repeat(2), cells: [4, 19, 50] }] }).replaceAll('":', '": ')}  `,
    arrived: true,
    cells: [
      { query: "weather", url: "https://weather.example/" },
      { query: "maps", url: null },
      { query: null, url: null },
    ],
  },
  uploads: { rounds: 0, withdrawn: 0 },
  nextRound: 1_794_920_400,
  bundle: { queries: 50 },
  problem: null,
};

const NEW: Status = {
  ...CLIENT,
  consent: "none",
  invitation: null,
  stored: 0,
  spent: "0",
  remaining: "0",
  lastReport: null,
  bundle: null,
  nextRound: null,
};

const JOINED: Status = { ...NEW, consent: "client" };
const VOLUNTEER: Partial<Status> = { consent: "opt-in", lastReport: null, uploads: { rounds: 3, withdrawn: 1 } };
const WITHDRAWN = { withdrawn: 2, status: { ...CLIENT, ...VOLUNTEER, uploads: { rounds: 3, withdrawn: 3 } } };
const RAISED = { epsilon: "4", agreed: "48", wanted: "480", spent: "12" };
const UNLISTED = CLIENT.lastReport && { ...CLIENT.lastReport, cells: null };

const ROWS: Suggestion[] = [
  { query: "weather", share: 0.0208, urls: [["https://weather.example/", 0.8]] },
  { query: "weather tomorrow", share: 0.0062, urls: [["https://weather.example/tomorrow?days=1", 0.6]] },
  { query: "web mail", share: 0.0011, urls: [] },
];

const INVITATION = {
  schema: "blender-dp/invitation/1",
  collector: "https://collector.example",
  key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  campaign: "5a0c8ad7e0f14cf0a53f6c3a3d1f8c11",
  epsilon: "4",
  delta: "1/1000000",
  lifetime_epsilon: "48",
  name: "popular-searches",
};
const LINK = linkOf(INVITATION);
const LARGER = linkOf({ ...INVITATION, lifetime_epsilon: "480" });
const REFUSED = { error: { subject: "collector", problem: "is being contacted", fix: "Try again in a moment" } };

/** Every screen, in the order in which a user may meet them. */
export const SCREENS: readonly Screen[] = [
  consent("question", {}),
  consent("token", {}, (page) => press(page, "Yes, as a volunteer")),
  consent("token-invalid", {}, async (page) => {
    await press(page, "Yes, as a volunteer");
    await page.type("#token", "1234");
    await press(page, "Volunteer");
  }),
  consent("yes", {}, (page) => press(page, "Yes, with noise")),
  consent("no", { consent: "declined" }, (page) => press(page, "No")),
  popup("new", NEW),
  popup("declined", { ...NEW, consent: "declined" }),
  popup("no-invitation", { ...NEW, consent: "client", stored: 1 }),
  popup("first-round", { spent: "0", remaining: "48", lastReport: null, bundle: null }),
  popup("client", {}),
  popup("report", {}, (page) => page.click("summary")),
  popup("search", {}, async (page) => {
    await page.type("#search", "we");
    await page.waitForSelector(".results a");
    await page.keyboard.press("ArrowDown");
  }),
  popup("search-nothing", {}, async (page) => {
    await page.type("#search", "zz");
    await page.waitForSelector("[role=status].soft");
  }),
  popup("opt-in", VOLUNTEER),
  popup("paused", { paused: true }),
  popup("used-up", { spent: "48", remaining: "0" }),
  popup("left", { left: true, nextRound: null, stored: 0, bundle: null, lastReport: UNLISTED }),
  popup("problem", { problem: "collector: does not respond (time limit). Check the URL, or try again." }),
  popup("refused", {}, (page) => press(page, "Pause")),
  popup("question-delete", {}, (page) => press(page, "Delete everything")),
  popup("question-leave", {}, (page) => press(page, "Leave permanently")),
  popup("question-leave-volunteer", VOLUNTEER, (page) => press(page, "Leave permanently")),
  popup("question-leave-withdrawn", VOLUNTEER, async (page) => {
    await press(page, "Leave permanently");
    await press(page, "Withdraw my records first");
  }),
  options("question", NEW),
  options("empty", JOINED),
  options("invalid", JOINED, (page) => read(page, "https://collector.example/join")),
  options("preview", JOINED, (page) => read(page, LINK)),
  options("larger-limit", {}, (page) => read(page, LARGER), { limit: { value: RAISED } }),
  options("no-promise", JOINED, (page) => read(page, linkOf({ ...INVITATION, epsilon: "30" }))),
  options("saved", JOINED, async (page) => {
    await read(page, LINK);
    await press(page, "Accept");
  }),
  options("set", {}),
];

function popup(name: string, changes: Partial<Status>, act?: Screen["act"]): Screen {
  const responses = { status: { value: { ...CLIENT, ...changes } }, pause: REFUSED, withdraw: { value: WITHDRAWN } };
  return screen("popup", name, responses, act);
}

function options(name: string, changes: Partial<Status>, act?: Screen["act"], more = {}): Screen {
  const responses = { status: { value: { ...CLIENT, ...changes } }, limit: { value: null }, invitation: { value: CLIENT } };
  return screen("options", name, { ...responses, ...more }, act);
}

function consent(name: string, changes: Partial<Status>, act?: Screen["act"]): Screen {
  return screen("consent", name, { consent: { value: { ...NEW, consent: "client", ...changes } } }, act);
}

function screen(page: Screen["page"], name: string, responses: object, act?: Screen["act"]): Screen {
  const rows = { results: { value: ROWS } };
  return { name: `${page}-${name}`, page, responses: { ...responses, ...rows }, ...(act && { act }) };
}

function linkOf(invitation: object): string {
  return `https://collector.example/join#${Buffer.from(JSON.stringify(invitation)).toString("base64url")}`;
}

/** Presses the button with this label. */
async function press(page: Page, label: string): Promise<void> {
  await page.locator(`::-p-xpath(//button[starts-with(normalize-space(.), "${label}")])`).click();
}

async function read(page: Page, link: string): Promise<void> {
  await page.$eval("#link", (area, value) => Object.assign(area, { value }), link);
  await press(page, "Show what it says");
}
