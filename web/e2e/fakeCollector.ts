/** A collector that signs documents with any content and sends any response. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { canonicalJson } from "../client/src/digests.ts";
import { type Answer, json, type Request, serve } from "./server.ts";

export const CAMPAIGN = "c".repeat(32);
/** What a device pins, besides the address and the key. */
export const PINNED = { campaign: CAMPAIGN, epsilon: "4", delta: "1e-6", lifetimeEpsilon: "8", leastSeconds: 0 };

const CORS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "GET, POST, DELETE",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
};
const QUERIES = [0, 1, 2, 3, 4].map((i) => ({ query: `query ${i}`, urls: [`https://site${i}.example/`] }));

type Content = Record<string, unknown>;

export class FakeCollector {
  url = "";
  close: () => Promise<void> = async () => {};
  readonly key: string;
  /** The pointer to the newest round; null if there is none. */
  round: Content | null = { id: "1".repeat(32), state: "listed" };
  released: Content | null = null;
  readonly documents = new Map<string, string>();
  /** Every request, in order, without those that browsers add to ask for permission. */
  readonly requests: Request[] = [];
  /** Uploaded records by their receipts. */
  readonly records = new Map<string, string>();
  /** The ids of rounds that are over. */
  readonly over = new Set<string>();
  refused: unknown = [];
  receipt: unknown = null;
  /** While true, requests arrive and no response comes. */
  down = false;
  /** While true, what is posted arrives, and its response is lost. */
  lost = false;
  /** Replaces the response to a request, unless it returns undefined. */
  instead: (request: Request) => Answer | null | undefined | Promise<Answer | null | undefined> = () => undefined;
  readonly #private: KeyObject;

  constructor() {
    const pair = generateKeyPairSync("ed25519");
    this.#private = pair.privateKey;
    this.key = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
  }

  /** Start a collector with a list and an opening. */
  static async start(): Promise<FakeCollector> {
    const fake = new FakeCollector();
    fake.publishList();
    fake.publishOpening();
    Object.assign(fake, await serve((request) => fake.respond(request)));
    return fake;
  }

  /** The bodies of reports and uploads. */
  get posted(): string[] {
    return this.requests.filter((one) => one.method === "POST").map((one) => one.body);
  }

  /** The requests as "METHOD path". */
  get paths(): string[] {
    return this.requests.map((one) => `${one.method} ${one.url.pathname}`);
  }

  publishOpening(changed: Content = {}): void {
    const content = {
      campaign: CAMPAIGN,
      round: 1,
      round_id: this.round?.id,
      epsilon: "4",
      delta: "1e-6",
      expires: 2 ** 40,
    };
    this.round = { ...this.round, opening: this.publish("opening", { ...content, ...changed }) };
  }

  /** Publish a list; its channel is changed before its digest is computed. */
  publishList({ channel = {}, queries = QUERIES, ...changed }: Content = {}): void {
    const settings = { randomiser: "subset", epsilon: "4", f_c: "17/20", m_c: 1, subset_size: 1, ...(channel as Content) };
    const document = { schema: "blender-dp/head-list/2", canonical_version: 1, channel: settings, queries };
    const digest = createHash("sha256").update(canonicalJson(document)).digest("hex");
    const content = { campaign: CAMPAIGN, round: 1, round_id: this.round?.id, head_list: document, list_digest: digest };
    this.round = { ...this.round, head_list: this.publish("head-list", { ...content, expires: 2 ** 40, ...changed }) };
  }

  publishBundle(round: unknown, changed: Content = {}): void {
    const queries = [{ query: `query ${round}`, share: 0.5, urls: [["https://a.example/", 0.5]] }];
    const bundle = this.publish("bundle", { campaign: CAMPAIGN, round, queries, ...changed });
    this.released = { id: "1".repeat(32), state: "released", bundle };
  }

  /** Open the round of this number in place of the one before. */
  nextRound(number: number, state = "listed"): void {
    this.round = { ...this.round, id: String(number).repeat(32).slice(0, 32), state };
    this.publishList({ round: number });
    this.publishOpening({ round: number });
  }

  /** Sign a document, and return the digest that it is fetched by. */
  publish(kind: string, content: unknown): string {
    const signed = canonicalJson({ content, kind });
    const signature = sign(null, Buffer.from(`blender-dp/1\0${signed}`), this.#private).toString("base64");
    return this.offer(canonicalJson({ content, key: this.key, kind, signature }));
  }

  /** Offer any text as a document. */
  offer(body: string): string {
    const digest = createHash("sha256").update(body).digest("hex");
    this.documents.set(digest, body);
    return digest;
  }

  /** What it responds to a request. */
  async respond(request: Request): Promise<Answer | null> {
    if (request.method === "OPTIONS") return { status: 204, headers: CORS };
    this.requests.push(request);
    const chosen = await this.instead(request);
    const answer = chosen === undefined ? this.#usual(request) : chosen;
    return answer && { ...answer, headers: { ...CORS, ...answer.headers } };
  }

  #usual({ method, url, body }: Request): Answer | null {
    const [, , , place = ""] = url.pathname.split("/");
    if (this.down) return null;
    if (url.pathname === "/v1/rounds/current") return json({ key: "x", round: this.round, released: this.released });
    if (method === "DELETE") return { status: this.records.delete(place) ? 204 : 404 };
    if (method === "GET") return { body: this.documents.get(place) ?? "" };
    if (url.pathname.endsWith("/records")) this.records.set(JSON.parse(body).receipt, body);
    if (this.lost) return null;
    if (this.over.has(place)) return json({ detail: "the round is released; it takes no reports" }, 409);
    if (!url.pathname.endsWith("/records")) return json({ refused: this.refused });
    return json({ receipt: this.receipt ?? JSON.parse(body).receipt }, 201);
  }
}
