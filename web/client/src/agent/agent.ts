/**
 * One device over its lifetime: it verifies, charges its account, sends, and searches offline.
 *
 * The account is stored before a report leaves. A report that may not have arrived is sent again unchanged, at no cost.
 */

import type { Fraction } from "../arithmetic.ts";
import { Device } from "../channel/device.ts";
import { BlenderError, DocumentError, NoResponseError, ParameterError, ResponseError, StateError } from "../errors.ts";
import { checkedDelta, checkedEpsilon } from "../records/checks.ts";
import { uploadRecord, usableRecords } from "../records/upload.ts";
import { asDocument, list } from "../wire/shapes.ts";
import type { Row, Suggester } from "../wire/suggestions.ts";
import type { Account, Limits, Sent, Uploaded } from "./account.ts";
import { AccountStore } from "./accountStore.ts";
import { chargedReport, chargedUpload } from "./charging.ts";
import { CollectorClient } from "./collector.ts";
import { OfflineSearch } from "./offlineSearch.ts";
import type { AccountView, AgentOptions } from "./options.ts";
import { reportBody, uploadBody } from "./outgoing.ts";
import { checkedCampaign, checkedKey, notNegative } from "./pinned.ts";
import { type Pointer, PublishedDocuments } from "./published.ts";
import { type Content, verifiedList, verifiedOpening } from "./verification.ts";

const LEAST_SECONDS = 86_400; // no campaign needs more than one round a day
const GONE = [404, 409]; // the round is over, or no longer known

/** A device with its own account that participates in one campaign. Tabs and workers may share an account. */
export class Agent {
  private constructor(
    private readonly store: AccountStore,
    private readonly collector: CollectorClient,
    private readonly published: PublishedDocuments,
    private readonly offline: OfflineSearch,
    private readonly campaign: string,
    private readonly limits: Limits,
    private readonly delta: Fraction | null,
    private readonly clock: () => number,
  ) {}

  /** Check the settings and open the account; nothing is sent. */
  static async open(options: AgentOptions): Promise<Agent> {
    const { delta = null, leastSeconds = LEAST_SECONDS, clock = () => Date.now() / 1000 } = options;
    const collector = new CollectorClient(options.collector, options.seconds);
    const [key, campaign] = [checkedKey(options.key), checkedCampaign(options.campaign)];
    const limits = {
      epsilon: checkedEpsilon(options.epsilon),
      lifetimeEpsilon: notNegative(options.lifetimeEpsilon, "lifetimeEpsilon"),
      leastSeconds: Number(notNegative(leastSeconds, "leastSeconds") && leastSeconds),
    };
    const maxDelta = delta === null ? null : checkedDelta(delta);
    const store = await AccountStore.open(options.database ?? "blender-dp");
    const published = new PublishedDocuments(store, collector, key, campaign);
    const offline = new OfflineSearch(store, published, key, campaign);
    return new Agent(store, collector, published, offline, campaign, limits, maxDelta, clock);
  }

  /** Everything that has left this device and what it cost, to show to its user. */
  async account(): Promise<AccountView> {
    const account = await this.store.read();
    const { sent, records: uploaded, charged } = account;
    const [limit, spent] = [account.lifetime(this.limits.lifetimeEpsilon), account.spent(this.limits.epsilon)];
    return { sent, uploaded, limit: `${limit}`, spent: `${spent}`, left: `${limit.minus(spent)}`, charged };
  }

  /**
   * Allow the lifetime ε that this agent was opened with, even if it is more than before.
   *
   * Call it only if the user has agreed to it, having seen the old limit, the new one and the ε spent. Until then, an
   * agent that is opened with a larger limit keeps the smallest earlier one.
   */
  async agreeToLimit(): Promise<void> {
    await this.store.change((account) => {
      account.limit = `${this.limits.lifetimeEpsilon}`;
    });
  }

  /** Whether the user has opted out. */
  async optedOut(): Promise<boolean> {
    return await this.store.optedOut();
  }

  /**
   * Send nothing from now on, in any tab: no request follows one that is under way. It is permanent.
   *
   * Only `withdraw`, which the user asks for, still works.
   */
  async optOut(): Promise<void> {
    await this.store.optOut();
  }

  /**
   * The id and state of the current round, so that an application can choose one record per round.
   *
   * The collector has not signed it; what is sent depends only on signed documents.
   */
  async currentRound(): Promise<{ readonly id: string; readonly state: unknown } | null> {
    return await this.published.pointer("round");
  }

  /**
   * Report one record in the current round, unless already done; nothing is sent after an opt-out.
   *
   * Reports of earlier rounds that may not have arrived are sent again first. Returns the report in the account, or null if
   * there is nothing to report in. If nobody searched, call it with null: not reporting would reveal that.
   *
   * If the record was chosen for a round, pass its id: nothing is sent if the collector then names another round.
   */
  async takePart(
    query: string | null,
    url: string | null = null,
    { round }: { readonly round?: string } = {},
  ): Promise<Sent | null> {
    const records = usableRecords(query, url); // before any request: the time it takes must not be observable
    const pointer = await this.published.pointer("round");
    if (isOther(pointer, round)) return null;
    const listed = pointer?.state === "listed" ? pointer : null;
    if (await this.optedOut()) return null;
    await this.#sendAgain(listed?.id);
    const account = await this.store.read();
    if (!listed || account.record(this.campaign, listed.id)) return null; // no device is in both groups
    const known = account.report(this.campaign, listed.id);
    const sent = known ?? (await this.#report(listed, records, account.newest[this.campaign] ?? 0));
    return sent && !sent.arrived ? await this.#deliver(sent) : sent;
  }

  /**
   * Upload an opt-in user's record in the open round, in place of an earlier one of that round.
   *
   * Call it in every round, with or without a record: one that is missing, looks personal or is too long is uploaded as no
   * record, in a message of the same length, because the number of opt-in users is public. Nothing leaves, not even the
   * token, unless the pinned key has signed the opening of the round, with this device's ε and at most its δ. All uploads of
   * a round share one receipt and one charge. From then on this device does not report in that round, whatever happens to
   * the upload, and after a withdrawal it does not upload to it again.
   *
   * If the record was chosen for a round, pass its id: nothing is sent if the collector then names another round. Otherwise
   * a hostile collector could name many rounds first and the same open round second, and would get many records.
   */
  async upload(
    token: string,
    query: string | null,
    url: string | null = null,
    { round }: { readonly round?: string } = {},
  ): Promise<Uploaded | null> {
    const maxDelta = this.delta;
    if (!maxDelta) {
      throw new ParameterError("delta", "is not set, but an upload needs a limit", "Pass Agent.open a delta, such as 1e-6");
    }
    const record = uploadRecord(query, url); // before any request: the time it takes must not be observable
    const pointer = await this.published.pointer("round");
    if (pointer?.state !== "open" || isOther(pointer, round)) return null;
    const fetched = await this.published.fetch("opening", pointer.opening);
    if (!fetched) return null;
    const opening = verifiedOpening(fetched.content, { ...this.#expected(pointer), maxDelta });
    const uploaded = await this.#charge(opening, chargedUpload);
    if (!uploaded || uploaded.withdrawn || uploaded.stopped || (await this.optedOut())) return null;
    const headers = { Authorization: `Bearer ${token}` };
    const response = await this.collector.post(
      `/v1/rounds/${uploaded.round_id}/records`,
      uploadBody(record, uploaded.receipt),
      headers,
    );
    if (asDocument("response", () => (response as Content).receipt) !== uploaded.receipt) {
      throw new DocumentError("response", "names a different receipt from the one sent", "Withdraw the record");
    }
    return uploaded;
  }

  /** Withdraw all records whose lists are not made yet, even after an opt-out, and return their number. */
  async withdraw(): Promise<number> {
    let count = 0;
    // First of all: no response may come, and an upload may be under way. A full disk prevents no withdrawal.
    await this.store.change((account) => account.stop(this.campaign)).catch(() => undefined);
    for (const one of (await this.store.read()).records) {
      if (one.campaign !== this.campaign || one.withdrawn) continue; // another campaign does not concern this collector
      try {
        await this.collector.delete(`/v1/records/${one.receipt}`);
      } catch (error) {
        if (isGone(error)) continue; // it may be in a list already, or still on its way
        throw error;
      }
      count++;
      await this.store.change((account) => account.withdraw(one));
    }
    return count;
  }

  /** Fetch and verify the bundle for offline search, and return whether there is one; an older one is refused. */
  async refreshBundle(): Promise<boolean> {
    return await this.offline.refresh();
  }

  /** Delete the stored bundle. An older one is still refused later. */
  async forgetBundle(): Promise<void> {
    await this.store.forgetBundle();
  }

  /** The typed query and the most popular ones that start with it, from the verified bundle, offline. */
  async search(typed: string, n = 8): Promise<Row[]> {
    return (await this.suggester()).matching(typed, n);
  }

  /** A searcher that answers without waiting, for every keystroke; it searches the bundle as it is now. */
  async suggester(): Promise<Suggester> {
    return await this.offline.suggester();
  }

  #expected({ id }: Pointer) {
    return { campaign: this.campaign, roundId: id, epsilon: this.limits.epsilon, now: this.#now() };
  }

  #now(): number {
    const now = this.clock();
    if (!Number.isFinite(now)) throw new StateError("clock", "does not show a time", "Set the clock");
    return now;
  }

  /** Verify the list of a round, make a report on it from the record with as many levels, and charge it. */
  async #report(pointer: Pointer, records: ReturnType<typeof usableRecords>, newest: number): Promise<Sent | null> {
    const fetched = await this.published.fetch("head-list", pointer.headList);
    if (!fetched) return null;
    const { round, reportingList } = await verifiedList(fetched.content, { ...this.#expected(pointer), newest });
    const { headList } = reportingList;
    const { epsilon } = this.limits;
    const report = await new Device(reportingList, { epsilon }).randomise(records[headList.levels]);
    const body = reportBody(fetched.digest, report.cells, headList.cellCount);
    const entry = {
      campaign: this.campaign,
      round,
      round_id: pointer.id,
      epsilon: `${epsilon}`,
      body,
      arrived: false,
      over: false,
    };
    return await this.#charge(entry, chargedReport);
  }

  /** Charge the account before anything leaves, unless the user has opted out. */
  async #charge<E, T>(entry: E, rule: (account: Account, entry: E, limits: Limits, now: number) => T): Promise<T | null> {
    if (await this.optedOut()) return null;
    return await this.store.change((account) => rule(account, entry, this.limits, this.#now()));
  }

  /** Resend reports of earlier rounds that may not have arrived, unless their round is over. */
  async #sendAgain(current: string | undefined): Promise<void> {
    for (const one of (await this.store.read()).sent) {
      if (one.campaign !== this.campaign || one.arrived || one.over || one.round_id === current) continue;
      try {
        await this.#deliver(one);
      } catch (error) {
        if (isGone(error)) await this.#settle(one, false);
        else if (error instanceof NoResponseError)
          return; // try again later
        else if (!(error instanceof BlenderError)) throw error; // otherwise refused, or the response is invalid
      }
    }
  }

  async #deliver(sent: Sent): Promise<Sent | null> {
    if (await this.optedOut()) return null;
    const response = await this.collector.post(`/v1/rounds/${sent.round_id}/reports`, sent.body);
    const refused = asDocument("response", () => list((response as Content).refused));
    if (refused.length) {
      const fix = "It stays charged, and the same report is sent again";
      throw new StateError("report", "was refused by the collector", fix);
    }
    return await this.#settle(sent, true);
  }

  #settle(sent: Sent, arrived: boolean): Promise<Sent> {
    return this.store.change((account) => account.settle(sent, arrived));
  }
}

/** Whether the pointer names a round other than the one expected, if any. */
function isOther(pointer: Pointer | null, round: string | undefined): boolean {
  return round !== undefined && pointer?.id !== round;
}

function isGone(error: unknown): boolean {
  return error instanceof ResponseError && GONE.includes(error.status);
}
