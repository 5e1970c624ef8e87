/**
 * Who may send which message. Websites and other extensions cannot send any (the manifest does not let them connect).
 *
 * A results page is the least trusted sender: its content script can only add to the stored searches, in a visible
 * window that is not private. Everything else comes from the extension's own pages.
 */
import { engineAt } from "../content/results.ts";
import type { Message, MessageType } from "../shared/messages.ts";

const TOP_FRAME = 0;
const MAX_CHARACTERS = 20_000; // a longer invitation, query or URL is not one

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string" && value.length <= MAX_CHARACTERS;
const optionalText: Check = (value) => value === undefined || text(value);
const truth: Check = (value) => typeof value === "boolean";
const optionalTruth: Check = (value) => value === undefined || truth(value);
const answer: Check = (value) => value === "client" || value === "opt-in" || value === "declined";

/** The fields of every message. */
const FIELDS: Record<MessageType, Record<string, Check>> = {
  status: {},
  consent: { answer, token: optionalText },
  limit: { text },
  invitation: { text, raise: optionalTruth },
  pause: { paused: truth },
  deleteEverything: {},
  withdraw: {},
  leave: {},
  results: {},
  searched: { query: text },
  opened: { query: text, url: text },
};

const FROM_RESULTS: MessageType[] = ["searched", "opened"];

/** The message, if it is well formed and its sender may send it. */
export function allowed(message: unknown, sender: chrome.runtime.MessageSender): Message | null {
  if (!isMessage(message) || sender.id !== chrome.runtime.id) return null;
  const isFromRight = FROM_RESULTS.includes(message.type) ? isResultsPage(sender) : isOwnPage(sender);
  return isFromRight ? message : null;
}

function isMessage(message: unknown): message is Message {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  const { type } = message;
  const fields = typeof type === "string" && Object.hasOwn(FIELDS, type) ? FIELDS[type as MessageType] : null;
  return (
    fields !== null && Object.entries(fields).every(([name, check]) => check((message as Record<string, unknown>)[name]))
  );
}

function isOwnPage({ url }: chrome.runtime.MessageSender): boolean {
  return url?.startsWith(chrome.runtime.getURL("")) ?? false;
}

function isResultsPage({ url, tab, frameId }: chrome.runtime.MessageSender): boolean {
  if (!url || !tab || tab.incognito || frameId !== TOP_FRAME) return false;
  return engineAt(new URL(url)) !== null;
}
