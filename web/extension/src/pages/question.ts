/** A question before something that cannot be undone. */
import { element } from "./dom.ts";
import { type Key, text } from "./texts.ts";

/** Asks, and returns whether the user agreed. Cancel has the focus, and Escape cancels. */
export function agreed(title: Key, more: Key, action: Key): Promise<boolean> {
  const dialog = element(
    "dialog",
    { "aria-labelledby": "question", "aria-describedby": "consequence" },
    element("h2", { id: "question" }, text(title)),
    element("p", { id: "consequence" }, text(more)),
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
