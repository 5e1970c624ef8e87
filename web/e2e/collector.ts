/** Real collectors, with rounds in them, which one Python process runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Overview } from "../dashboard/src/generated/api.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VENV = `${ROOT}.venv/bin/python`;

/** A round, as the operator sees it. */
export interface Round {
  id: string;
  campaign: string;
  state: string;
  head_list: string;
}

/** A release, as far as tests look at it; the last query is "any other". */
export interface Release {
  queries: { query: string | null; share: number; client_share: number; client_variance: number }[];
}

/** The process that runs them. It starts with the first one. */
export class Collectors {
  #process: ChildProcess | null = null;
  #lines: AsyncIterator<string> | null = null;

  /** Start a collector in a folder of its own, on SQLite or on a PostgreSQL server of its own. */
  async start(database: "sqlite" | "postgresql" = "sqlite"): Promise<Collector> {
    if (!this.#process) this.#spawn();
    const { url, key, token, number } = await this.request<Collector>("start", database);
    return new Collector(url, key, token, number, this);
  }

  #spawn(): void {
    const python = process.env.BLENDER_DP_PYTHON ?? (existsSync(VENV) ? VENV : "python3");
    const env = { ...process.env, PYTHONPATH: `${ROOT}:${ROOT}src:${ROOT}device/src` };
    const child = spawn(python, ["-m", "tests.browser_collector"], { cwd: ROOT, env, stdio: ["pipe", "pipe", "inherit"] });
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Write a line, and return what the line of the response says. */
  async request<T>(...words: unknown[]): Promise<T> {
    this.#process?.stdin?.write(`${JSON.stringify(words)}\n`);
    const line = await this.#lines?.next();
    if (!line || line.done) throw new Error("the collectors have stopped; their output above says why");
    return JSON.parse(line.value);
  }

  /** Stop all of them. */
  async stop(): Promise<void> {
    const process = this.#process;
    if (!process || process.exitCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.stdin?.end();
    await ended;
  }
}

export class Collector {
  constructor(
    readonly url: string,
    /** The public key that signs its documents. */
    readonly key: string,
    /** The operator's token. */
    readonly token: string,
    readonly number: number,
    private readonly all: Collectors,
  ) {}

  /** Create a campaign with these changes to its settings, and return its id. */
  campaign(changed: Record<string, unknown> = {}): Promise<string> {
    return this.call("campaign", [], changed);
  }

  /** Open a round, and return its id. */
  opened(campaign: string): Promise<string> {
    return this.call("opened", [campaign]);
  }

  /** Tokens of opt-in users. */
  enrolled(campaign: string, count = 1): Promise<string[]> {
    return this.call("enrolled", [campaign, count]);
  }

  /** Open a round, let opt-in users upload "query 0" to "query 4", and publish its list. */
  listed(campaign: string, users = 120): Promise<Round> {
    return this.call("listed", [campaign, users]);
  }

  /** Let an opt-in user upload a record. */
  async upload(round: string, token: string, query: string, url: string): Promise<void> {
    await this.call("upload", [round, token, query, url]);
  }

  /** Make the list of an open round. */
  async list(round: string): Promise<Round> {
    await this.call("operator", ["POST", `/v1/operator/rounds/${round}/list`]);
    return await this.call("reached", [round, "listed"]);
  }

  /** Let this many opt-in users upload to an open round. */
  uploads(round: string, campaign: string, count: number): Promise<void> {
    return this.call("uploads", [round, campaign, count]);
  }

  /** The number of opt-in users whose records have arrived in the open round. */
  async optInUsers(campaign: string): Promise<number | null | undefined> {
    const { campaigns } = await this.call<Overview>("operator", ["GET", "/v1/operator/overview"]);
    return campaigns.find(({ id }) => id === campaign)?.opt_in_users;
  }

  /** Let this many other devices report. */
  others(round: Round, count: number): Promise<void> {
    return this.call("others", [round, count]);
  }

  /** Abort a round; its reports are deleted. */
  abort(round: string): Promise<void> {
    return this.call("operator", ["POST", `/v1/operator/rounds/${round}/abort`], { json: { reason: "test" } });
  }

  /** The link that invites devices to a campaign. */
  invitation(campaign: string): Promise<string> {
    return this.call("invitation", [campaign]);
  }

  /** Let this many Python devices report a record; returns how many reports have arrived. */
  takePart(campaign: string, count: number, query: string, url: string): Promise<number> {
    return this.call("take_part", [campaign, count, query, url]);
  }

  /** Close a round, and return what is released. */
  close(round: string): Promise<Release> {
    return this.call("close", [round]);
  }

  /** The number of reports in the database. */
  stored(): Promise<number> {
    return this.call("stored");
  }

  /** Stop it. */
  stop(): Promise<void> {
    return this.all.request("stop", this.number);
  }

  /** Call a method of the Python test collector. */
  call<T>(name: string, values: unknown[] = [], named: Record<string, unknown> = {}): Promise<T> {
    return this.all.request("call", this.number, name, values, named);
  }
}
