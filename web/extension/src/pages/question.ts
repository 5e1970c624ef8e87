/** A question before something that cannot be undone. */
import { element, show } from "./dom.ts";
import { inWords, problemBox } from "./problem.ts";
import { type Key, text } from "./texts.ts";

/** Something that the user may want to do first, without leaving the question; returns what to say about it. */
export interface First {
  readonly label: Key;
  readonly act: () => Promise<string>;
}

/** Asks, and returns whether the user agreed. Cancel has the focus, and Escape cancels. */
export function agreed(title: Key, more: Key, action: Key, first?: First): Promise<boolean> {
  const dialog = element(
    "dialog",
    { "aria-labelledby": "question", "aria-describedby": "consequence" },
    element("h2", { id: "question" }, text(title)),
    element("p", { id: "consequence" }, text(more)),
    first ? offered(first) : null,
    element(
      "form",
      { method: "dialog", class: "buttons" },
      element("button", { value: "cancel", autofocus: true }, text("cancel")),
      element("button", { value: "agreed", class: "danger" }, text(action)),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "agreed");
    });
  });
}

/** A button, which disappears once it has done its work, and what it has done. */
function offered({ label, act }: First): HTMLElement {
  const status = element("div", { class: "small", role: "status" });
  const button = element("button", { class: "start", onclick: () => void press() }, text(label));
  const press = async () => {
    button.disabled = true;
    try {
      show(status, await act());
      button.remove();
    } catch (error) {
      show(status, problemBox(inWords(error)));
      button.disabled = false;
    }
  };
  return element("div", { class: "stack" }, button, status);
}
