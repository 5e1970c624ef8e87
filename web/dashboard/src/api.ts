/** Calls of the collector's API. The types come from its OpenAPI description. */

import type {
  AuditAnswer,
  CampaignAnswer,
  CampaignBudget,
  CampaignMessage,
  ChangesAnswer,
  EnrolAnswer,
  InvitationShown,
  LedgerEntry,
  Overview,
  PlanAnswer,
  Pointer,
  PromiseAnswer,
  RoundAnswer,
  RoundHistory,
  TrendsAnswer,
} from "./generated/api.ts";

const SECONDS = 30;
const TREND_SECONDS = 180; // the first request for long lists over many rounds may take a minute

/** A response that is not a success, in words for people. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    /** The end of the problem's URN, such as `forbidden`; empty if there was no response. */
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

interface ProblemDocument {
  type?: string;
  detail?: string;
  errors?: readonly { where: string; what: string; why?: string }[];
}

/** Send a request; the response's body as bytes. */
export async function fetched(path: string, init: RequestInit = {}, seconds = SECONDS): Promise<Uint8Array<ArrayBuffer>> {
  const late = AbortSignal.timeout(1000 * seconds);
  try {
    const response = await fetch(path, {
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      ...init,
      signal: init.signal ? AbortSignal.any([init.signal, late]) : late,
    });
    const body = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return body;
    throw problemOf(response.status, body);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(0, "", "The collector does not respond. This page will try again.");
  }
}

function problemOf(status: number, body: Uint8Array): Problem {
  let document: ProblemDocument = {};
  try {
    document = JSON.parse(new TextDecoder().decode(body));
  } catch {
    // a proxy's own page
  }
  const kind = document.type?.split(":").at(-1) ?? "";
  const fields = document.errors
    ?.map((one) => `${one.where.replace(/^(body|query)\.?/, "")}: ${one.why ?? one.what}`)
    .join("; ");
  const words = fields || document.detail || `the collector responded with ${status}`;
  return new Problem(status, kind, `${words.charAt(0).toUpperCase()}${words.slice(1)}.`.replace(/\.\.$/, "."));
}

async function json<T>(path: string, init?: RequestInit, seconds?: number): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await fetched(path, init, seconds)));
}

const campaignPath = (campaign: string) => `/v1/campaigns/${encodeURIComponent(campaign)}`;

/** What everyone may read. */
export const readers = {
  campaigns: () => json<readonly CampaignBudget[]>("/v1/campaigns"),
  pointer: (campaign: string) => json<Pointer>(`/v1/rounds/current?campaign=${encodeURIComponent(campaign)}`),
  trends: (campaign: string, n: number) => json<TrendsAnswer>(`${campaignPath(campaign)}/trends?n=${n}`, {}, TREND_SECONDS),
  changes: (campaign: string) => json<ChangesAnswer>(`${campaignPath(campaign)}/changes`),
  promise: (campaign: string) => json<PromiseAnswer>(`${campaignPath(campaign)}/promise`),
  audit: (campaign: string) => json<AuditAnswer>(`${campaignPath(campaign)}/audit`),
  rounds: (campaign: string, before?: string) =>
    json<readonly RoundHistory[]>(`${campaignPath(campaign)}/rounds${before ? `?before=${before}` : ""}`),
  ledger: () => json<readonly LedgerEntry[]>("/v1/ledger"),
  versions: () => json<{ version: string; packages: Record<string, string> }>("/__version__"),
};

/** What the operator may do. The token is sent as a header, and never becomes part of an address. */
export function operators(token: string) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const get = <T>(path: string, signal?: AbortSignal) =>
    json<T>(`/v1/operator${path}`, { headers, cache: "no-store", ...(signal && { signal }) });
  const post = <T>(path: string, body: object, key?: string) =>
    json<T>(`/v1/operator${path}`, {
      method: "POST",
      headers: key ? { ...headers, "Idempotency-Key": key } : headers,
      body: JSON.stringify(body),
    });
  return {
    overview: () => get<Overview>("/overview"),
    plan: (values: Record<string, string>, signal: AbortSignal) =>
      get<PlanAnswer>(`/plan?${new URLSearchParams(values)}`, signal),
    create: (settings: CampaignMessage, key: string) => post<CampaignAnswer>("/campaigns", settings, key),
    open: (campaign: string, times: { lists_at?: number; closes_at?: number }, key: string) =>
      post<RoundAnswer>(`/campaigns/${campaign}/rounds`, times, key),
    enrol: (campaign: string, count: number, key: string) =>
      post<EnrolAnswer>(`/campaigns/${campaign}/enrolments`, { count }, key),
    invitation: (campaign: string, publicUrl: string, lifetimeEpsilon: string) =>
      get<InvitationShown>(
        `/campaigns/${campaign}/invitation?${new URLSearchParams({
          public_url: publicUrl,
          ...(lifetimeEpsilon && { lifetime_epsilon: lifetimeEpsilon }),
        })}`,
      ),
    list: (round: string) => post<RoundAnswer>(`/rounds/${round}/list`, {}),
    close: (round: string) => post<RoundAnswer>(`/rounds/${round}/close`, {}),
    abort: (round: string, reason: string) => post<RoundAnswer>(`/rounds/${round}/abort`, { reason }),
  };
}

export type Operator = ReturnType<typeof operators>;
