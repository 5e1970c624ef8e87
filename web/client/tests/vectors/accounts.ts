/** Replays sequences of rounds: every request of a device, in order, and what it has spent. Needs IndexedDB and Web Locks. */

import { Agent } from "../../src/agent/agent.ts";
import { BlenderError, NoResponseError, ResponseError } from "../../src/errors.ts";
import type { Check } from "./replay.ts";

interface AccountVectors {
  readonly key: string;
  readonly campaign: string;
  readonly documents: { readonly [digest: string]: string };
  readonly sequences: readonly Sequence[];
}

interface Sequence {
  readonly name: string;
  readonly device: { epsilon: string; delta: string; lifetime_epsilon: string; least_seconds: number };
  readonly steps: readonly Step[];
}

interface Step {
  readonly do: "take-part" | "upload" | "withdraw" | "opt-out" | "agree";
  readonly now: number;
  /** Instead of the device's own, from then on. */
  readonly lifetime_epsilon?: string;
  readonly current?: unknown;
  readonly query?: string | null;
  readonly url?: string | null;
  readonly token?: string;
  readonly requests: readonly { request: string; status?: number | null; body?: number; receipt?: number }[];
  readonly result: unknown;
  readonly error: string | null;
  readonly spent: string;
  readonly left: string;
}

const COLLECTOR = "https://collector.example";

export async function replayAccounts(vectors: AccountVectors, check: Check): Promise<void> {
  const { fetch } = globalThis;
  for (const [number, sequence] of vectors.sequences.entries()) {
    try {
      await replaySequence(vectors, sequence, `vectors-${number}`, check);
    } finally {
      globalThis.fetch = fetch;
    }
  }
}

async function replaySequence(vectors: AccountVectors, sequence: Sequence, database: string, check: Check): Promise<void> {
  const { epsilon, delta, lifetime_epsilon: first, least_seconds: leastSeconds } = sequence.device;
  const { key, campaign } = vectors;
  const collector = new Replayed(vectors);
  globalThis.fetch = (url, init) => collector.respond(String(url), init ?? {});
  for (const [i, step] of sequence.steps.entries()) {
    const { lifetime_epsilon: lifetimeEpsilon = first } = step;
    const pinned = { collector: COLLECTOR, key, campaign, epsilon, delta, lifetimeEpsilon, leastSeconds, database };
    const agent = await Agent.open({ ...pinned, clock: () => step.now }); // as after a restart
    collector.step = step;
    collector.requests = [];
    const name = `${sequence.name}, step ${i + 1}`;
    check(name, await outcome(agent, step), { result: step.result, error: step.error });
    check(`${name}, requests`, collector.requests, step.requests);
    const { spent, left } = await agent.account();
    check(`${name}, account`, [spent, left], [step.spent, step.left]);
  }
}

/** What a call returns, and the error it ends with, in the words of the vectors. */
async function outcome(agent: Agent, step: Step): Promise<{ result: unknown; error: string | null }> {
  try {
    return { result: await act(agent, step), error: null };
  } catch (error) {
    if (error instanceof NoResponseError) return { result: null, error: "no response" };
    if (error instanceof ResponseError) return { result: null, error: `status ${error.status}` };
    if (error instanceof BlenderError) return { result: null, error: error.problem };
    throw error;
  }
}

async function act(agent: Agent, { do: what, token = "", query = null, url = null }: Step): Promise<unknown> {
  if (what === "take-part") return (await agent.takePart(query, url)) ? "sent" : "nothing";
  if (what === "upload") return (await agent.upload(token, query, url)) ? "sent" : "nothing";
  if (what === "withdraw") return await agent.withdraw();
  await (what === "agree" ? agent.agreeToLimit() : agent.optOut());
  return null;
}

/** A collector that responds as one step says, and records every request in the words of the vectors. */
class Replayed {
  step: Step | undefined;
  requests: unknown[] = [];
  readonly #bodies: string[] = [];
  readonly #receipts: string[] = [];

  constructor(private readonly vectors: AccountVectors) {}

  async respond(url: string, { method = "GET", body, headers }: RequestInit): Promise<Response> {
    const path = url.slice(COLLECTOR.length);
    const last = path.slice(path.lastIndexOf("/") + 1);
    if (method === "GET") return this.#document(path, last);
    const wanted = this.step?.requests[this.requests.length];
    const status = wanted?.status === undefined ? 500 : wanted.status;
    if (method === "DELETE") {
      this.requests.push({ request: `DELETE /v1/records/{receipt ${this.#receipts.indexOf(last)}}`, status });
    } else {
      this.requests.push({ request: `POST ${path}`, status, ...this.#sent(body, headers) });
    }
    if (status === null) throw new TypeError("no response");
    const isRecord = path.endsWith("/records");
    const answer = isRecord ? { receipt: this.#receipts.at(-1) } : { refused: [] };
    return new Response(status === 204 ? null : JSON.stringify(status >= 400 ? {} : answer), { status });
  }

  #document(path: string, digest: string): Response {
    this.requests.push({ request: `GET ${path}` });
    if (!path.startsWith("/v1/rounds/current")) return new Response(this.vectors.documents[digest]);
    return Response.json({ key: this.vectors.key, round: this.step?.current, released: null });
  }

  #sent(body: RequestInit["body"], headers: RequestInit["headers"]): object {
    const text = typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array<ArrayBuffer>);
    const given = new Headers(headers);
    const token = this.step?.token;
    const isRight =
      given.get("content-type") === "application/json" && given.get("authorization") === (token ? `Bearer ${token}` : null);
    const { receipt } = JSON.parse(text);
    const numbers = { body: number(this.#bodies, isRight ? text : "wrong headers") };
    return receipt === undefined ? numbers : { ...numbers, receipt: number(this.#receipts, receipt) };
  }
}

function number(seen: string[], one: string): number {
  if (!seen.includes(one)) seen.push(one);
  return seen.indexOf(one);
}
