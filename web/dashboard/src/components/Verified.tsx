/** Says that the browser itself has verified a signature, and with which key. */

import type { JSX } from "preact";

/** The key is the one that this collector publishes: a reader who knows it from elsewhere can compare. */
export function Verified({ keyText, what }: { readonly keyText: string; readonly what: string }): JSX.Element {
  return (
    <p class="verified">
      <span aria-hidden="true">✓ </span>
      Your browser has verified the digest and the signature of {what} with this collector's key <code>{keyText}</code>.
      Compare the key with one from another source: a dishonest server could publish a different key.
    </p>
  );
}
