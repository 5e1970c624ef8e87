/** What the popup shows for each status. */
import type { Status } from "../shared/messages.ts";
import { budgetCard } from "./budgetCard.ts";
import { element } from "./dom.ts";
import { header } from "./header.ts";
import { problemBox } from "./problem.ts";
import { reportCard } from "./reportCard.ts";
import { searchBox } from "./searchBox.ts";
import { counted, moment, text } from "./texts.ts";
import { uploadCard } from "./uploadCard.ts";

/** What the user can do in the popup. */
export interface Actions {
  answer(): void;
  settings(): void;
  pause(paused: boolean): void;
  withdraw(): void;
  deleteEverything(): void;
  /** Whether there are uploads that may still be withdrawn. */
  leave(uploads: boolean): void;
}

/** The popup. */
export function popupView(status: Status, actions: Actions): HTMLElement[] {
  return [
    header(status),
    ...(status.problem ? [problemBox(status.problem)] : []),
    ...(status.bundle ? [searchBox()] : []),
    about(status, actions),
    ...cards(status, actions),
    footer(status, actions),
  ];
}

/** Whether the user is in one of the two groups. */
export function takesPart({ consent, left }: Status): boolean {
  return !left && (consent === "client" || consent === "opt-in");
}

/** One sentence on what happens now, and the next step if there is one. */
function about(status: Status, actions: Actions): HTMLElement {
  const facts = takesPart(status) ? [counted("stored", status.stored), ...next(status)] : [];
  return element(
    "section",
    { class: "about" },
    element("p", {}, sentence(status)),
    facts.length ? element("p", { class: "small soft" }, facts.join(" ")) : null,
    nextStep(status, actions),
  );
}

function sentence({ left, consent, paused, invitation }: Status): string {
  if (left) return text("aboutLeft");
  if (consent === "none") return text("aboutNone");
  if (consent === "declined") return text("aboutDeclined");
  if (paused) return text("aboutPaused");
  if (!invitation) return text("aboutNoInvitation");
  return text(consent === "opt-in" ? "aboutOptIn" : "aboutClient", invitation.name);
}

function next({ nextRound, paused }: Status): string[] {
  return nextRound === null || paused ? [] : [text("nextRound", moment(nextRound))];
}

function nextStep(status: Status, { answer, settings }: Actions): HTMLElement | null {
  if (status.left) return null;
  if (status.consent === "none") return element("button", { class: "primary", onclick: answer }, text("choose"));
  if (status.consent === "declined") return element("button", { onclick: answer }, text("changeAnswer"));
  return status.invitation ? null : element("button", { class: "primary", onclick: settings }, text("addInvitation"));
}

/** The account stays visible after leaving: what was sent cannot be called back. */
function cards(status: Status, { withdraw }: Actions): HTMLElement[] {
  const { invitation, consent, left } = status;
  if (!invitation || consent === "none" || (consent === "declined" && !left)) return [];
  const shown = consent === "opt-in" ? uploadCard(status, invitation, withdraw) : reportCard(status, invitation.epsilon);
  const budget = budgetCard(status, invitation);
  return budget ? [budget, shown] : [];
}

function footer(status: Status, actions: Actions): HTMLElement {
  const { paused, uploads } = status;
  const button = (label: string, onclick: () => void) => element("button", { class: "quiet", onclick }, label);
  return element(
    "footer",
    {},
    takesPart(status) ? button(text(paused ? "resume" : "pause"), () => actions.pause(!paused)) : null,
    status.consent === "none" && !status.left ? null : button(text("delete"), actions.deleteEverything),
    takesPart(status) ? button(text("leave"), () => actions.leave(uploads.rounds > uploads.withdrawn)) : null,
    button(text("settings"), actions.settings),
  );
}
