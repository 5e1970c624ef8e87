/** Opening an invitation: a link that is pasted, or a file. It is shown first and only then accepted. */
import { type Invitation, readInvitation } from "@blender-dp/client";
import { ask, type LimitQuestion, type Messages, type Status } from "../shared/messages.ts";
import { requestCollector } from "../shared/permission.ts";
import { element, show } from "./dom.ts";
import { approximate, rounded, roundsIn } from "./exactNumbers.ts";
import { facts } from "./facts.ts";
import { surestText } from "./odds.ts";
import { inWords, problemBox } from "./problem.ts";
import { counted, text } from "./texts.ts";

const MOST_BYTES = 64 * 1024;

/** The form. `done` gets the new status once an invitation is accepted. */
export function invitationForm(done: (status: Status) => void): HTMLElement {
  const below = element("div", { class: "stack", "aria-live": "polite" });
  const read = (given: string) => preview(given, below, done);
  const area = element("textarea", { id: "link", rows: 3, spellcheck: "false", autocomplete: "off" });
  const file = element("input", {
    type: "file",
    id: "file",
    class: "hidden",
    accept: ".json,application/json",
    onchange: () => open(file.files, read, below),
  });
  return element(
    "div",
    { class: "stack drop", ondragover: over, ondragleave: leave, ondrop: (event) => drop(event as DragEvent, read, below) },
    element("label", { for: "link" }, text("pasteLabel")),
    area,
    element(
      "div",
      { class: "buttons start" },
      element("button", { class: "primary", onclick: () => read(area.value) }, text("read")),
      file,
      element("label", { for: "file", class: "button" }, text("chooseFile")),
      element("span", { class: "small soft wide" }, text("dropHere")),
    ),
    below,
  );
}

async function preview(given: string, below: HTMLElement, done: (status: Status) => void): Promise<void> {
  try {
    const invitation = readInvitation(given);
    const question = await ask("limit", { text: given });
    const accept = (raise: boolean) => void accepted({ text: given, raise }, invitation, below, done);
    const parts = [
      element("h2", {}, text("previewTitle")),
      facts(invitation),
      question && largerLimit(question),
      buttons(question, accept, () => show(below)),
    ];
    show(below, element("section", { class: "card" }, ...parts));
    below.scrollIntoView?.({ block: "nearest" });
  } catch (error) {
    show(below, problemBox(inWords(error)));
  }
}

/** What a larger limit than the one that the user agreed to would change. */
function largerLimit({ epsilon, agreed, wanted, spent }: LimitQuestion): HTMLElement {
  const [before, after] = [agreed, wanted].map((limit) => counted("limitRounds", roundsIn(limit, epsilon)));
  return element(
    "div",
    { class: "warning", role: "note" },
    element("strong", {}, text("limitTitle")),
    element("p", {}, text("limitAgreed", rounded(agreed), before ?? "", rounded(spent))),
    element("p", {}, text("limitWanted", rounded(wanted), after ?? "", surestText(approximate(wanted)))),
  );
}

/** Accept or cancel. A larger limit has a button of its own, so that nobody agrees to it by accident. */
function buttons(question: LimitQuestion | null, accept: (raise: boolean) => void, cancel: () => void): HTMLElement {
  const raise = question && element("button", { class: "danger", onclick: () => accept(true) }, text("limitRaise"));
  return element(
    "div",
    { class: "buttons" },
    element("button", { onclick: cancel }, text("cancel")),
    raise,
    element("button", { class: "primary", onclick: () => accept(false) }, text(question ? "limitKeep" : "accept")),
  );
}

/** The question for permission comes first: Firefox only shows it directly after a click. */
async function accepted(
  given: Messages["invitation"]["fields"],
  { collector }: Invitation,
  below: HTMLElement,
  done: (status: Status) => void,
): Promise<void> {
  try {
    if (await requestCollector(collector)) done(await ask("invitation", given));
    else show(below, problemBox(text("permissionRefused")));
  } catch (error) {
    show(below, problemBox(inWords(error)));
  }
}

async function open(files: FileList | null | undefined, read: (text: string) => void, below: HTMLElement): Promise<void> {
  const file = files?.[0];
  if (!file) return;
  if (file.size > MOST_BYTES) show(below, problemBox(text("fileTooLarge")));
  else read(await file.text());
}

function over(event: Event): void {
  event.preventDefault(); // otherwise the browser opens the file in place of the page
  (event.currentTarget as Element).classList.add("over");
}

function leave(event: Event): void {
  (event.currentTarget as Element).classList.remove("over");
}

function drop(event: DragEvent, read: (text: string) => void, below: HTMLElement): void {
  event.preventDefault();
  leave(event);
  const files = event.dataTransfer?.files;
  if (files?.length) void open(files, read, below);
  else read(event.dataTransfer?.getData("text") ?? "");
}
