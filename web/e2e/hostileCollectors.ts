/** The table of hostile collectors in spec/, and a server that responds as a step of it says. */
import { readFileSync } from "node:fs";
import { type Answer, json, type Request, serve } from "./server.ts";

type Response = Answer & { base64?: string; repeat?: [string, number]; endless?: string; length?: number; close?: boolean };

export interface Step {
  act: "report" | "upload" | "refresh bundle";
  current?: Response;
  documents?: Record<string, string | Response>;
  answer?: Response;
  result: "done" | "nothing" | "refused";
  spent: string;
  requests: string[];
}

export interface Table {
  pinned: { key: string; campaign: string; epsilon: string; delta: string; lifetime_epsilon: string; least_seconds: number };
  now: number;
  record: { token: string; query: string; url: string };
  usual: Record<Step["act"], string>;
  documents: Record<string, string>;
  cases: { name: string; steps: Step[] }[];
}

export const TABLE: Table = JSON.parse(readFileSync(new URL("../../spec/hostile_collectors.json", import.meta.url), "utf8"));

/** The settings of a device in a step, besides the collector's address; it waits this long for a response without an end. */
export function settings(step: Step, patience = 1) {
  const { lifetime_epsilon: lifetimeEpsilon, least_seconds: leastSeconds, ...pinned } = TABLE.pinned;
  const seconds = JSON.stringify(step).includes('"endless"') ? patience : 30;
  return { ...pinned, lifetimeEpsilon, leastSeconds, seconds };
}

/** The cases that depend on the browser: what is sent on the wire is unusual, and not only the text. */
export const ON_THE_WIRE = TABLE.cases.filter(({ steps }) =>
  steps.some(({ act, current, documents, answer }) => {
    const responses = [current, answer, ...Object.values(documents ?? {})].filter((one) => typeof one === "object");
    return (act === "report" || answer) && responses.some((one) => Object.keys(one).join() !== "body");
  }),
);

const KINDS: Record<string, string> = {
  openings: "opening",
  "head-lists": "head-list",
  bundles: "bundle",
  reports: "report",
  records: "upload",
};
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Authorization, Content-Type" };

/** A collector that follows `step`. */
export class HostileCollector {
  url = "";
  close: () => Promise<void> = async () => {};
  step: Step | undefined;
  /** The kinds of the requests of this step. */
  requests: string[] = [];
  /** The bodies of the reports and uploads of a case. */
  posted: string[] = [];

  static async start(): Promise<HostileCollector> {
    const collector = new HostileCollector();
    return Object.assign(collector, await serve((request) => collector.respond(request)));
  }

  /** What it responds to a request. */
  respond({ method, url, body }: Request): Answer | null {
    if (method === "OPTIONS") return { status: 204, headers: CORS };
    const parts = url.pathname.split("/");
    const name = parts.at(-1) ?? "";
    const kind = name === "current" ? name : (KINDS[method === "POST" ? name : (parts[2] ?? "")] ?? url.pathname);
    this.requests.push(kind);
    if (method === "POST") this.posted.push(body);
    return sent(this.#response(kind, name, body));
  }

  #response(kind: string, name: string, body: string): Response {
    const step = this.step as Step;
    if (kind === "current") return step.current ?? { body: TABLE.usual[step.act] };
    if (kind === "report") return step.answer ?? json({ refused: [] });
    if (kind === "upload") return step.answer ?? json({ receipt: JSON.parse(body).receipt });
    const document = step.documents?.[name] ?? TABLE.documents[name] ?? { status: 404 };
    return typeof document === "string" ? { body: document } : document;
  }
}

function sent(response: Response): Answer | null {
  const { status, base64, repeat: [text, count] = ["", 0], endless, length, close } = response;
  const headers = { ...CORS, ...response.headers, Connection: "close" };
  if (close) return null;
  if (endless !== undefined) return { headers, body: pieces(endless) };
  if (base64 !== undefined) return { headers, body: Buffer.from(base64, "base64") };
  if (count) return { headers, body: text.repeat(count) };
  if (length !== undefined)
    return { headers: { ...headers, "Content-Length": `${length}` }, body: cutOff(String(response.body)) };
  return { headers, body: response.body ?? "", ...(status && { status }) };
}

async function* pieces(piece: string): AsyncIterable<string> {
  for (let i = 0; i < 200; i++) {
    yield piece;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function* cutOff(text: string): AsyncIterable<string> {
  yield text;
  await new Promise((resolve) => setTimeout(resolve, 20));
  throw new Error("cut off, as the table says");
}
