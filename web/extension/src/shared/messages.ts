/**
 * The messages between the background and everything else: pages and content scripts only talk to the background.
 *
 * Content scripts send `searched` and `opened`, pages send all others; the background checks who sent each one. Every
 * message has a response, and a refusal arrives as an error with the three parts of all errors of the client.
 */

/** Which group a user has chosen: none yet, a client, an opt-in user, or neither. */
export type Consent = "none" | "client" | "opt-in" | "declined";

/** What a user can answer when asked for consent. */
export type Answer = Exclude<Consent, "none">;

/** The collector that reports go to, as its invitation describes it; numbers are exact and therefore strings. */
export interface Campaign {
  collector: string;
  campaign: string;
  name: string;
  epsilon: string;
  delta: string;
  /** What the user has agreed to, which may be less than the invitation asks for. */
  lifetimeEpsilon: string;
}

/** What the user is asked before the lifetime limit is raised: exact numbers, and the ε of one round. */
export interface LimitQuestion {
  epsilon: string;
  agreed: string;
  wanted: string;
  spent: string;
}

/** The last report, exactly as it was sent or will be sent again. */
export interface LastReport {
  /** The number of the round. */
  round: number;
  /** The exact body of the request. */
  body: string;
  /** Whether the collector has confirmed it. */
  arrived: boolean;
  /** What each cell in the body stands for, in the same order, or null if the list of the round is not stored. */
  cells: Cell[] | null;
}

/** A cell of a round's list; null stands for any other query, or any other URL. */
export interface Cell {
  query: string | null;
  url: string | null;
}

/** A query of the bundle, its share of all users, and its URLs with their probabilities, most popular first. */
export interface Suggestion {
  query: string;
  share: number;
  urls: readonly (readonly [url: string, probability: number])[];
}

/** Everything that the popup shows. Times are seconds since 1970. */
export interface Status {
  consent: Consent;
  invitation: Campaign | null;
  paused: boolean;
  /** Whether the user has left permanently. */
  left: boolean;
  /** How many different searches are stored on this device. */
  stored: number;
  /** ε spent by all reports and uploads, as an exact number; null if the account cannot be read. */
  spent: string | null;
  /** ε that may still be spent. */
  remaining: string | null;
  lastReport: LastReport | null;
  /** In how many rounds a record was uploaded, and how many of these uploads were withdrawn. */
  uploads: { rounds: number; withdrawn: number };
  /** When the background next asks the collector for a round, or null if it does not. */
  nextRound: number | null;
  /** The stored results for offline search. */
  bundle: { queries: number } | null;
  /** Why the last attempt to report or upload failed, for the user. */
  problem: string | null;
}

/** Every message: its fields and its response. */
export interface Messages {
  status: { fields: object; response: Status };
  /** Join as a client or an opt-in user (who needs the token that the curator issued), or decline. */
  consent: { fields: { answer: Answer; token?: string }; response: Status };
  /** Whether an invitation asks for a larger lifetime limit than the user has agreed to. */
  limit: { fields: { text: string }; response: LimitQuestion | null };
  /**
   * Set the collector from a link or the text of a file. The page must have requested the permission before. With `raise`,
   * the user has agreed to the larger lifetime limit of the invitation; otherwise the limit stays.
   */
  invitation: { fields: { text: string; raise?: boolean }; response: Status };
  pause: { fields: { paused: boolean }; response: Status };
  /** Delete the stored searches, choices and results. What was spent stays, and so does an opt-out. */
  deleteEverything: { fields: object; response: Status };
  /** Withdraw an opt-in user's uploads that are not in a list yet; `withdrawn` is their number. */
  withdraw: { fields: object; response: { withdrawn: number; status: Status } };
  /** Opt out for ever: nothing is stored or sent from then on. */
  leave: { fields: object; response: Status };
  /** All published results: a page searches them in its own memory, so that a keystroke waits for nothing else. */
  results: { fields: object; response: readonly Suggestion[] };
  /** From a results page of a search engine: the user searched. */
  searched: { fields: { query: string }; response: null };
  /** From a results page of a search engine: the user opened a result. */
  opened: { fields: { query: string; url: string }; response: null };
}

export type MessageType = keyof Messages;

/** A message as it is sent. */
export type Message = { [T in MessageType]: { type: T } & Messages[T]["fields"] }[MessageType];

/** What is wrong, as `BlenderError` says it. */
export interface Problem {
  subject: string;
  problem: string;
  fix: string;
}

/** A response as it is sent. */
export type Reply<T extends MessageType> = { value: Messages[T]["response"] } | { error: Problem };

/** A message was refused. Its text is for the user; show it with `textContent`. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(readonly details: Problem) {
    super(`${details.subject}: ${details.problem}. ${details.fix}.`);
  }
}

/** Send a message to the background and return its response. */
export async function ask<T extends MessageType>(type: T, fields: Messages[T]["fields"]): Promise<Messages[T]["response"]> {
  const reply = (await chrome.runtime.sendMessage({ type, ...fields })) as Reply<T>;
  if ("error" in reply) throw new RefusedError(reply.error);
  return reply.value;
}
