/** The head of every page: icon, name, and in the popup which group the user is in. */
import type { Status } from "../shared/messages.ts";
import { element } from "./dom.ts";
import { type Key, text } from "./texts.ts";

/** The head of a page, with a badge if a status is given. */
export function header(status?: Status): HTMLElement {
  const [key, kind] = status ? group(status) : [null, ""];
  return element(
    "header",
    { class: "head" },
    element("img", { src: "icons/icon.svg", alt: "", width: 26, height: 26 }),
    element(status ? "h1" : "span", { class: "brand" }, text("shortName")),
    key && element("span", { class: `badge ${kind}` }, text(key)),
  );
}

/** The text and the style of the badge. */
export function group(status: Status): [key: Key, kind: string] {
  if (status.left) return ["groupLeft", "off"];
  if (status.consent === "none") return ["groupNone", "off"];
  if (status.consent === "declined") return ["groupDeclined", "off"];
  if (status.paused) return ["groupPaused", "off"];
  return status.consent === "opt-in" ? ["groupOptIn", "opt-in"] : ["groupClient", "client"];
}
