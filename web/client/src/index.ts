/** The part of blender-dp that runs in a browser: it verifies, randomises, accounts, sends and searches. */

export type { Sent, Uploaded } from "./agent/account.ts";
export { Agent } from "./agent/agent.ts";
export { type Invitation, readInvitation } from "./agent/invitation.ts";
export type { AccountView, AgentOptions } from "./agent/options.ts";
export { exact, Fraction, type Numeric } from "./arithmetic.ts";
export { type Budget, Device, type Report } from "./channel/device.ts";
export { canonicalJson, type DocumentDigest, documentDigest, type ListDigest } from "./digests.ts";
export { randomBytes } from "./entropy.ts";
export {
  BlenderError,
  BusyError,
  DocumentError,
  type Kind,
  NoResponseError,
  ParameterError,
  ResponseError,
  StateError,
} from "./errors.ts";
export { canonicalQuery, canonicalUrl } from "./records/canonical.ts";
export { HeadList } from "./records/headList.ts";
export { looksPersonal } from "./records/personal.ts";
export type { Record } from "./records/record.ts";
export { type ChannelSettings, ReportingList } from "./records/reportingList.ts";
export { canonicalParts } from "./records/upload.ts";
export { verifiedContent } from "./wire/documents.ts";
export { type Row, Suggester } from "./wire/suggestions.ts";
