/** Offline search in the newest bundle, whose signature is verified again whenever it is read from the store. */

import { DocumentError } from "../errors.ts";
import { verifiedContent } from "../wire/documents.ts";
import { type Row, Suggester } from "../wire/suggestions.ts";
import type { AccountStore } from "./accountStore.ts";
import type { PublishedDocuments } from "./published.ts";
import { verifiedBundle } from "./verification.ts";

/** The bundle of one campaign. Its rows are in memory until another tab or worker stores another bundle. */
export class OfflineSearch {
  #read: { digest: unknown; suggester: Suggester } | null = null;

  constructor(
    private readonly store: AccountStore,
    private readonly published: PublishedDocuments,
    private readonly key: string,
    private readonly campaign: string,
  ) {}

  /** Fetch and verify the bundle, and return whether there is one; an older one is refused. */
  async refresh(): Promise<boolean> {
    const pointer = await this.published.pointer("released");
    const fetched = pointer && (await this.published.fetch("bundle", pointer.bundle));
    if (!fetched) return false;
    const { digest, body, content } = fetched;
    const [round, rows] = verifiedBundle(content, this.campaign);
    await this.store.change(
      ({ bundles }) => {
        if (round < (bundles[this.campaign] ?? 0)) {
          throw new DocumentError("bundle", "is older than the one on this device", "Ask the collector's operator");
        }
        bundles[this.campaign] = round;
      },
      { digest, body },
    );
    this.#read = { digest, suggester: new Suggester(rows) };
    return true;
  }

  /** The rows of the bundle, ready to be searched without waiting for anything. */
  async suggester(): Promise<Suggester> {
    const digest = await this.store.bundleDigest();
    if (this.#read?.digest !== digest || !this.#read) this.#read = { digest, suggester: new Suggester(await this.#rows()) };
    return this.#read.suggester;
  }

  async #rows(): Promise<readonly Row[]> {
    const body = await this.store.bundle();
    if (body === undefined) return [];
    const bytes = body instanceof Uint8Array ? new Uint8Array(body) : new Uint8Array();
    const content = await verifiedContent(bytes, "bundle", this.key, "bundle");
    return content.campaign === this.campaign ? verifiedBundle(content, this.campaign)[1] : [];
  }
}
