/** What each message does, and the response to it. */
import type { Message, Problem } from "../shared/messages.ts";
import { storeSearch } from "./capture.ts";
import * as decisions from "./decisions.ts";
import { results } from "./participant.ts";
import { allowed } from "./senders.ts";
import { currentStatus } from "./status.ts";
import { problemOf } from "./words.ts";

const FORBIDDEN: Problem = { subject: "message", problem: "is not allowed from here", fix: "Use the extension's own pages" };

/** Respond to a message, whoever sent it. */
export async function respond(
  message: unknown,
  sender: chrome.runtime.MessageSender,
): Promise<{ value: unknown } | { error: Problem }> {
  try {
    const known = allowed(message, sender);
    return known ? { value: await outcome(known) } : { error: FORBIDDEN };
  } catch (error) {
    return { error: problemOf(error) };
  }
}

async function outcome(message: Message): Promise<unknown> {
  switch (message.type) {
    case "results":
      return (await results())?.rows ?? [];
    case "limit":
      return decisions.limit(message);
    case "searched":
      return storeSearch(message.query, null);
    case "opened":
      return storeSearch(message.query, message.url);
    case "withdraw":
      return { withdrawn: await decisions.withdraw(), status: await currentStatus() };
    case "status":
      break;
    case "consent":
      await decisions.consent(message);
      break;
    case "invitation":
      await decisions.invitation(message);
      break;
    case "pause":
      await decisions.pause(message);
      break;
    case "deleteEverything":
      await decisions.deleteEverything();
      break;
    case "leave":
      await decisions.leave();
      break;
  }
  return currentStatus();
}
