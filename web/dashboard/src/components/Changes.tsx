/** What changed since the previous release: only changes that noise does not explain. */

import type { JSX } from "preact";
import { percent, points, pointsInterval } from "../format.ts";
import type { ChangeShown, ChangesAnswer } from "../generated/api.ts";
import { link } from "../router.ts";
import { Paged } from "./Paged.tsx";

const PAGE = 20;
const KINDS = { risen: "Risen", fallen: "Fallen", new: "New on the list", gone: "Gone from the list" } as const;

/** Lists of discoveries by kind. */
export function Changes({ answer, campaign }: { readonly answer: ChangesAnswer; readonly campaign: string }): JSX.Element {
  const changes = answer.changes ?? [];
  const discoveries = changes.filter((one) => one.kind !== "unchanged");
  const [before, after] = answer.rounds;
  if (!answer.changes || !before || !after) return <p class="soft">Changes appear here after the second release.</p>;
  return (
    <>
      <p class="soft">
        From round {before.number} to round {after.number}: {discoveries.length || "no"}{" "}
        {discoveries.length === 1 ? "change" : "changes"} that noise does not explain, out of {changes.length} queries. At
        most {percent(answer.false_discovery_rate)} of them are expected to be false.
      </p>
      <div class="changes">
        {Object.entries(KINDS).map(([kind, title]) => {
          const rows = discoveries.filter((one) => one.kind === kind);
          return rows.length ? <Kind key={kind} title={title} rows={rows} campaign={campaign} /> : null;
        })}
      </div>
    </>
  );
}

function Kind({ title, rows, campaign }: { title: string; rows: readonly ChangeShown[]; campaign: string }): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <Paged rows={rows} size={PAGE} name="queries">
        {(some) => (
          <ul>
            {some.map((one) => (
              <li key={one.query}>
                <a href={link("c", campaign, "q", one.query)}>{one.query}</a> <span class="soft">{summary(one)}</span>
              </li>
            ))}
          </ul>
        )}
      </Paged>
    </section>
  );
}

function summary(one: ChangeShown): string {
  if (one.difference !== null) return `${points(one.difference)} (${pointsInterval(one.low, one.high)})`;
  return one.new_share !== null ? `now ${percent(one.new_share)}` : `was ${percent(one.old_share ?? 0)}`;
}
