/** A dialog that says what will happen before it happens. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Properties {
  readonly title: string;
  readonly says: string;
  readonly action: string;
  readonly onConfirm: (values: FormData) => Promise<void>;
  readonly onCancel: () => void;
  readonly children?: ComponentChildren;
}

/** The browser's own modal dialog: it traps the focus, and Escape closes it. */
export function Confirm({ title, says, action, onConfirm, onCancel, children }: Properties): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await onConfirm(new FormData(event.currentTarget as HTMLFormElement));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={onCancel}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        <p>{says}</p>
        {children}
        {problem && (
          <p class="warning" role="alert">
            {problem}
          </p>
        )}
        <p class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {action}
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
