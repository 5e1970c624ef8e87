/** Opening an invitation: a link that is pasted, or a file. It is shown first and only then accepted. */
import { type Invitation, readInvitation } from "@blender-dp/client";
import { ask, type Status } from "../shared/messages.ts";
import { requestCollector } from "../shared/permission.ts";
import { element, show } from "./dom.ts";
import { facts } from "./facts.ts";
import { inWords, problemBox } from "./problem.ts";
import { text } from "./texts.ts";

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

function preview(given: string, below: HTMLElement, done: (status: Status) => void): void {
  try {
    const invitation = readInvitation(given);
    const accept = element(
      "button",
      { class: "primary", onclick: () => accepted(given, invitation, below, done) },
      text("accept"),
    );
    const cancel = element("button", { onclick: () => show(below) }, text("cancel"));
    const buttons = element("div", { class: "buttons" }, cancel, accept);
    show(below, element("section", { class: "card" }, element("h2", {}, text("previewTitle")), facts(invitation), buttons));
    below.scrollIntoView?.({ block: "nearest" });
  } catch (error) {
    show(below, problemBox(inWords(error)));
  }
}

/** The question for permission comes first: Firefox only shows it directly after a click. */
async function accepted(
  given: string,
  { collector }: Invitation,
  below: HTMLElement,
  done: (status: Status) => void,
): Promise<void> {
  try {
    if (await requestCollector(collector)) done(await ask("invitation", { text: given }));
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
