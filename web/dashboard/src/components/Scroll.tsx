/** Holds a table that may be wider than a phone. */

import type { ComponentChildren, JSX } from "preact";

/** A place that can be scrolled sideways, with the keyboard as well: so it has the focus and a name. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard could not scroll it
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
