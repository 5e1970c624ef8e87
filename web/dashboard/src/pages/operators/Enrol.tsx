/** Creates tokens for opt-in users. They are shown once. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Operator } from "../../api.ts";

/** A form for the number of users, and the new tokens. */
export function Enrol({ campaign, operator }: { readonly campaign: string; readonly operator: Operator }): JSX.Element {
  const [tokens, setTokens] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    try {
      setTokens((await operator.enrol(campaign, Number(values.get("count")), crypto.randomUUID())).tokens);
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form onSubmit={submit}>
      <label>
        Number of tokens
        <input name="count" type="number" min={1} max={10_000} value={1} required />
      </label>
      <button type="submit">Create tokens</button>
      {problem && (
        <p class="warning" role="alert">
          {problem}
        </p>
      )}
      {tokens.length > 0 && (
        <>
          <p>These tokens are not stored and are shown only now. Give one to each user.</p>
          <textarea
            readOnly
            wrap="off"
            rows={Math.min(tokens.length + 1, 8)}
            aria-label="Tokens"
            value={tokens.join("\n")}
          />
        </>
      )}
    </form>
  );
}
