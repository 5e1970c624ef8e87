/** The popup: shows the status, and passes what the user wants to the background. */
import { ask, type Status } from "../shared/messages.ts";
import { element, show } from "./dom.ts";
import { header } from "./header.ts";
import { type Actions, popupView } from "./popupView.ts";
import { inWords, problemBox } from "./problem.ts";
import { agreed, type First } from "./question.ts";
import { counted, type Key, text, titled } from "./texts.ts";

const main = document.body.appendChild(element("main", { class: "popup" }));

const actions: Actions = {
  answer: () => void chrome.tabs.create({ url: chrome.runtime.getURL("consent.html") }),
  settings: () => void chrome.runtime.openOptionsPage(),
  pause: (paused) => update(() => ask("pause", { paused })),
  withdraw: () => confirmed("withdrawTitle", "withdrawMore", "withdraw", withdraw),
  deleteEverything: () => confirmed("deleteTitle", "deleteMore", "delete", () => ask("deleteEverything", {})),
  leave: async (uploads) => {
    const question = uploads
      ? agreed("leaveTitle", "leaveUploads", "leave", FIRST)
      : agreed("leaveTitle", "leaveMore", "leave");
    if (await question) await update(() => ask("leave", {}));
  },
};

/** What a volunteer may want to do before leaving. */
const FIRST: First = {
  label: "withdrawFirst",
  act: async () => {
    const { withdrawn, status } = await ask("withdraw", {});
    show(main, ...popupView(status, actions));
    return withdrawn ? counted("withdrawn", withdrawn) : text("withdrawnNone");
  },
};

async function confirmed(
  ...[title, more, action, then]: [title: Key, more: Key, action: Key, then: () => Promise<Status>]
): Promise<void> {
  if (await agreed(title, more, action)) await update(then);
}

async function withdraw(): Promise<Status> {
  const { withdrawn, status } = await ask("withdraw", {});
  main.after(element("p", { class: "hidden", role: "status" }, counted("withdrawn", withdrawn)));
  return status;
}

/** Shows the status that the background responds with, or what went wrong above what was shown before. */
async function update(request: () => Promise<Status>): Promise<void> {
  try {
    show(main, ...popupView(await request(), actions));
  } catch (error) {
    main.querySelector("[role=alert]")?.remove();
    if (!main.hasChildNodes()) main.append(header());
    main.firstElementChild?.after(problemBox(inWords(error)));
  }
}

titled("shortName");
document.documentElement.classList.toggle("in-popup", chrome.extension.getViews({ type: "popup" }).includes(window));
await update(() => ask("status", {}));
main.querySelector<HTMLElement>("input")?.focus();
