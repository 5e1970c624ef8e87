/** A browser that several groups of tests use, one after the other: starting one takes seconds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Name, type Options, type Running, start } from "./browsers.ts";
import { Network } from "./network.ts";

export class SharedBrowser {
  network!: Network;
  running!: Running;
  #folder = "";

  constructor(
    readonly name: Name,
    private readonly options: Partial<Options> = {},
  ) {}

  /** Start it in a new profile. */
  async start(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), "blender-dp-browser-"));
    this.network = await Network.start();
    await this.startAgain();
  }

  /** Start it with the profile as it was left. */
  async startAgain(): Promise<void> {
    this.running = await start(this.name, {
      ...this.options,
      network: this.network,
      profile: join(this.#folder, "profile"),
    });
  }

  /** Close all pages that tests have left open. */
  async tidy(): Promise<void> {
    const [, ...others] = await this.running.browser.pages();
    await Promise.all(others.map((page) => page.close()));
  }

  /** Close it and delete its profile. */
  async stop(): Promise<void> {
    await this.running.close();
    await this.network.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
