/** The options: which collector is set, and a form to open an invitation. */
import { ask, type Status } from "../shared/messages.ts";
import { element, show } from "./dom.ts";
import { facts } from "./facts.ts";
import { header } from "./header.ts";
import { invitationForm } from "./invitationForm.ts";
import { inWords, problemBox } from "./problem.ts";
import { text, titled } from "./texts.ts";

const main = document.body.appendChild(element("main", { class: "page" }));

function view({ invitation, left, consent }: Status, saved: boolean): HTMLElement[] {
  const isAsked = consent === "client" || consent === "opt-in";
  return [
    header(),
    element("h1", {}, text("optionsTitle")),
    saved && invitation ? element("p", { class: "promise", role: "status" }, text("accepted", invitation.name)) : null,
    invitation ? current(facts(invitation)) : element("p", {}, text("optionsNone")),
    left ? element("p", {}, text("aboutLeft")) : isAsked ? form(invitation !== null) : question(),
  ].filter((part) => part !== null);
}

function current(list: HTMLElement): HTMLElement {
  return element("section", { class: "card" }, element("h2", {}, text("optionsCurrent")), list);
}

function form(another: boolean): HTMLElement {
  return element(
    "section",
    { class: "stack" },
    element("h2", {}, text(another ? "optionsAnother" : "optionsOpen")),
    element("p", { class: "soft" }, text("optionsIntro")),
    invitationForm((status) => show(main, ...view(status, true))),
  );
}

/** An invitation can only be accepted by someone who wants to participate. */
function question(): HTMLElement {
  const open = () => void chrome.tabs.create({ url: chrome.runtime.getURL("consent.html") });
  const button = element("button", { class: "primary start", onclick: open }, text("choose"));
  return element("section", { class: "stack" }, element("p", {}, text("aboutNone")), button);
}

titled("optionsTitle");
try {
  show(main, ...view(await ask("status", {}), false));
} catch (error) {
  show(main, header(), problemBox(inWords(error)));
}
