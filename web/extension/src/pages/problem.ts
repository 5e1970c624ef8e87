/** Problems in words, without technical details. */
import { BlenderError } from "@blender-dp/client";
import { RefusedError } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { type Key, text } from "./texts.ts";

/** What frequent problems mean for the user. Others are shown as they are. */
const MEANINGS: readonly [problem: RegExp, meaning: Key][] = [
  [/^collector: does not respond/, "problemCollector"],
  [/^(response|bundle|opening|signed document|head list|\/v1\/)\b/, "problemUntrusted"],
];

/** A problem for people to read, such as "collector: does not respond. Try again later." Screen readers announce it. */
export function problemBox(message: string): HTMLElement {
  const meaning = MEANINGS.find(([problem]) => problem.test(message))?.[1];
  return element(
    "div",
    { class: "warning", role: "alert" },
    element("strong", {}, text("problemTitle")),
    element("p", {}, meaning ? text(meaning) : sentence(message)),
    meaning ? element("p", { class: "small soft" }, message) : null,
  );
}

/** What an error says to people: its own words, or that something unexpected happened. */
export function inWords(error: unknown): string {
  if (error instanceof RefusedError || error instanceof BlenderError) return error.message;
  return text("problemUnknown");
}

/** "collector: does not respond" as a sentence: errors begin with their subject and a colon. */
function sentence(message: string): string {
  const [, subject = "", field, problem = ""] = /^([a-z][a-z -]*)(?:, ([a-z_]+))?: (.*)$/s.exec(message) ?? [];
  if (field) return text("problemField", subject, field.replace("_", " "), problem);
  return problem ? text("problemOf", subject, problem) : message;
}
