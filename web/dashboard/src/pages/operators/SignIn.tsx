/** Asks for the operator's token, and checks it before it is remembered. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { operators, Problem } from "../../api.ts";

interface Properties {
  /** Why the operator has to sign in again. */
  readonly reason: string;
  readonly onToken: (token: string) => void;
}

/** A form with one field. */
export function SignIn({ reason, onToken }: Properties): JSX.Element {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState(reason);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await operators(typed.trim()).overview();
      onToken(typed.trim());
    } catch (error) {
      setProblem(
        error instanceof Problem && [401, 403].includes(error.status)
          ? "This is not the operator's token."
          : String((error as Error).message),
      );
    }
  };
  return (
    <form class="sign-in" onSubmit={submit}>
      <h1>Operator</h1>
      <p>
        <code>blender-dp serve</code> printed the operator's token when it first started. The token is stored in this tab
        only, until you close it.
      </p>
      {problem && (
        <p class="warning" role="alert">
          {problem}
        </p>
      )}
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button type="submit">Sign in</button>
    </form>
  );
}
