/** Waiting, problems and data, in one way on all pages. */

import type { ComponentChildren, JSX } from "preact";
import { Problem } from "../api.ts";
import type { Loaded } from "../loaded.ts";
import { link } from "../router.ts";

interface Properties<T> {
  readonly of: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Show data when they have arrived; before that, that they are loading; and any problem in words. */
export function Shown<T>({ of, children }: Properties<T>): JSX.Element {
  return (
    <>
      {of.problem && (
        <p class="warning" role="alert">
          {of.problem.message}{" "}
          {of.problem instanceof Problem && of.problem.status === 404 ? (
            <a href={link()}>All campaigns</a>
          ) : (
            <button type="button" onClick={of.again}>
              Try again
            </button>
          )}
        </p>
      )}
      {of.data !== undefined ? children(of.data) : !of.problem && <p class="soft">Loading …</p>}
    </>
  );
}
