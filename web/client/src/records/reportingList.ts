/**
 * The list that devices report on: a head list together with the channel of the reports, under one digest.
 *
 * The channel belongs to the list. An estimate inverts the channel, so it needs exactly the one that the devices used. Two
 * lists with the same queries and different channels are different lists, and their reports must never be mixed.
 */

import { type Fraction, readExact } from "../arithmetic.ts";
import { canonicalJson, isObject, type ListDigest, listDigest } from "../digests.ts";
import { BlenderError, DocumentError } from "../errors.ts";
import { CANONICAL_VERSION } from "../generated/limits.ts";
import type { HeadListDocument } from "../generated/messages.ts";
import { CHANNEL_SCHEMA } from "../generated/names.ts";
import { atLeastOne, checkedDelta, checkedEpsilon, openUnit } from "./checks.ts";
import { HeadList } from "./headList.ts";

/** Everything besides the names that determines a list's channel, exactly. */
export interface ChannelSettings {
  /** The privacy loss of all m_c reports of a client together. */
  readonly epsilon: Fraction;
  /** Only the randomiser "two-stage" uses it; otherwise null. */
  readonly delta: Fraction | null;
  readonly fC: Fraction;
  /** How many queries a report names; 1 with the randomiser "two-stage". */
  readonly subsetSize: number;
  readonly mC: number;
}

type ChannelDocument = NonNullable<HeadListDocument["channel"]>;

/** A head list and its channel: published to devices, named by their reports, and needed for an estimate. */
export class ReportingList {
  #digest: Promise<ListDigest> | undefined;

  constructor(
    readonly headList: HeadList,
    readonly channel: ChannelSettings,
  ) {}

  /** The digest of list and channel, which a `Report` names. A signed document with the list in it has another one. */
  digest(): Promise<ListDigest> {
    this.#digest ??= listDigest(this.toDocument());
    return this.#digest;
  }

  /** List and channel as JSON values. */
  toDocument(): HeadListDocument {
    return {
      schema: CHANNEL_SCHEMA,
      canonical_version: CANONICAL_VERSION,
      channel: channelDocument(this.channel),
      queries: this.headList.entries.map(([query, urls]) => ({ query, urls })),
    };
  }

  /** Read list and channel; anything that `toDocument` would not write is refused, so that a list has one digest. */
  static fromDocument(document: unknown, source = "head list"): ReportingList {
    const headList = HeadList.fromDocument(document, source);
    const listed = new ReportingList(headList, channelSettings(isObject(document) ? document.channel : null, source));
    if (canonicalJson(listed.toDocument()) !== canonicalJson(document)) {
      throw new DocumentError(source, "has fields or numbers that blender-dp does not write", "Do not use it");
    }
    return listed;
  }
}

function channelSettings(document: unknown, source: string): ChannelSettings {
  const fields = isObject(document) ? document : {};
  try {
    const isTwoStage = fields.randomiser === "two-stage";
    return {
      epsilon: checkedEpsilon(exactField(fields, "epsilon")),
      delta: isTwoStage ? checkedDelta(exactField(fields, "delta")) : null,
      fC: openUnit(exactField(fields, "f_c"), "f_c"),
      subsetSize: isTwoStage ? 1 : atLeastOne(Number(fields.subset_size), "subset_size"),
      mC: atLeastOne(Number(fields.m_c), "m_c"),
    };
  } catch (error) {
    if (!(error instanceof BlenderError)) throw error;
    throw new DocumentError(`${source}, channel`, `${error.subject}: ${error.problem}`.slice(0, 200), "Do not use it");
  }
}

function channelDocument({ epsilon, delta, fC, subsetSize, mC }: ChannelSettings): ChannelDocument {
  const common = { epsilon: `${epsilon}`, f_c: `${fC}`, m_c: mC };
  return delta === null
    ? { randomiser: "subset", ...common, subset_size: subsetSize }
    : { randomiser: "two-stage", ...common, delta: `${delta}` };
}

function exactField(fields: Record<string, unknown>, name: string): Fraction {
  return readExact(String(fields[name]), name);
}
