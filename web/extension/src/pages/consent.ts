/** The first page: asks for consent. Nothing is stored or sent before the answer. */
import { type Answer, ask, type Status } from "../shared/messages.ts";
import { element, show } from "./dom.ts";
import { header } from "./header.ts";
import { invitationForm } from "./invitationForm.ts";
import { inWords, problemBox } from "./problem.ts";
import { type Key, text, titled } from "./texts.ts";

const main = document.body.appendChild(element("main", { class: "page" }));
const TOKEN = /^[0-9a-f]{64}$/;

function question(): void {
  show(
    main,
    header(),
    element("h1", {}, text("consentTitle")),
    element("p", { class: "lead" }, `${text("consentWhat")} ${text("consentNoise")}`),
    choice("consentClient", "consentClientMore", () => answer("client")),
    choice("consentOptIn", "consentOptInMore", askToken),
    choice("consentDecline", "consentDeclineMore", () => answer("declined")),
    element("p", { class: "small soft" }, text("consentNothingYet")),
  );
}

function choice(label: Key, more: Key, onclick: () => void): HTMLElement {
  return element(
    "button",
    { class: "choice", onclick },
    element("strong", {}, text(label)),
    element("span", {}, text(more)),
  );
}

function askToken(): void {
  const input = element("input", {
    id: "token",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "hint",
  });
  const send = (event: Event) => {
    event.preventDefault();
    const token = input.value.trim().toLowerCase();
    if (TOKEN.test(token)) void answer("opt-in", token);
    else problem(text("consentTokenBad"));
  };
  show(
    main,
    header(),
    element("h1", {}, text("consentVolunteer")),
    element("p", {}, text("consentOptInMore")),
    element(
      "form",
      { class: "stack", onsubmit: send },
      element("label", { for: "token" }, text("consentToken")),
      input,
      element("p", { class: "small soft", id: "hint" }, text("consentTokenHint")),
      element(
        "div",
        { class: "buttons" },
        element("button", { type: "button", onclick: question }, text("consentBack")),
        element("button", { class: "primary" }, text("consentVolunteer")),
      ),
    ),
  );
  input.focus();
}

async function answer(given: Answer, token?: string): Promise<void> {
  try {
    done(await ask("consent", token === undefined ? { answer: given } : { answer: given, token }));
  } catch (error) {
    problem(inWords(error));
  }
}

function problem(message: string): void {
  main.querySelector("[role=alert]")?.remove();
  main.append(problemBox(message));
}

function done({ consent, invitation }: Status): void {
  const declined = consent === "declined";
  show(
    main,
    header(),
    element("h1", { tabindex: -1 }, text(declined ? "doneDeclinedTitle" : "doneClientTitle")),
    element("p", { class: "lead" }, text(declined ? "doneDeclined" : "doneClient")),
    ...(declined || invitation ? [closing()] : nextStep()),
  );
  main.querySelector("h1")?.focus();
}

function closing(): HTMLElement {
  return element("button", { class: "start", onclick: () => window.close() }, text("closePage"));
}

function nextStep(): HTMLElement[] {
  const intro = element("p", { class: "soft" }, text("optionsIntro"));
  return [element("h2", {}, text("doneNext")), intro, invitationForm(done)];
}

titled("consentTitle");
question();
