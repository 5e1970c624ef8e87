/** Problems in words, without technical details. */
import { BlenderError } from "@blender-dp/client";
import { RefusedError } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { text } from "./texts.ts";

/** A problem for people to read, such as "collector: does not respond. Try again later." Screen readers announce it. */
export function problemBox(message: string): HTMLElement {
  return element(
    "div",
    { class: "warning", role: "alert" },
    element("strong", {}, text("problemTitle")),
    element("p", {}, sentence(message)),
  );
}

/** What an error says to people: its own words, or that something unexpected happened. */
export function inWords(error: unknown): string {
  if (error instanceof RefusedError || error instanceof BlenderError) return error.message;
  return text("problemUnknown");
}

/** "collector: does not respond" as a sentence: errors begin with their subject and a colon. */
function sentence(message: string): string {
  const [, subject = "", problem = ""] = /^([a-z][a-z, -]*): (.*)$/s.exec(message) ?? [];
  return problem ? text("problemOf", subject, problem) : message;
}
