/** What a round would find with the form's values: numbers of the planner, through the API. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Operator } from "../../api.ts";
import { Scroll } from "../../components/Scroll.tsx";
import { Shown } from "../../components/Shown.tsx";
import { count, number, percent } from "../../format.ts";
import type { ExpectedShown, PlanAnswer } from "../../generated/api.ts";
import { useLoaded } from "../../loaded.ts";
import type { Wish } from "./NewCampaign.tsx";

const PAUSE = 200;

/** The forecast, a moment after the last change. */
export function Forecast({ wish, operator }: { readonly wish: Wish; readonly operator: Operator }): JSX.Element {
  const values = {
    epsilon: String(wish.epsilon),
    delta: `1e-${wish.delta}`,
    users: String(wish.users),
    opt_in: String(wish.optIn),
    max_queries: String(wish.maxQueries),
    shape: wish.shape,
  };
  const key = useSettled(JSON.stringify(values));
  const plan = useLoaded(`plan ${key}`, (signal) => operator.plan(JSON.parse(key), signal));
  return (
    <section class="panel" aria-live="polite" aria-busy={plan.data === undefined}>
      <h2>What a round would find</h2>
      <Shown of={plan}>{(answer) => <Answer answer={answer} />}</Shown>
    </section>
  );
}

function Answer({ answer }: { readonly answer: PlanAnswer }): JSX.Element {
  const facts: readonly [string, ExpectedShown, (value: number) => string][] = [
    ["Queries on the list", answer.queries, count],
    ["Error of the queries (L1)", answer.query_l1, number],
    ["Error of the records (L1)", answer.record_l1, number],
    ["NDCG (1 is perfect)", answer.ndcg, number],
  ];
  return (
    <>
      {answer.warnings.map((text) => (
        <p key={text} class="warning">
          {text}
        </p>
      ))}
      <dl class="facts">
        {facts.map(([name, value, shown]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{shown(value.mean)}</dd>
            <dd class="soft small">
              {shown(value.low)} to {shown(value.high)}
            </dd>
          </div>
        ))}
      </dl>
      <Scroll label="Ranks">
        <table>
          <caption>Queries by rank: share, probability of being listed, and error</caption>
          <thead>
            <tr>
              <th scope="col">Rank</th>
              <th scope="col">Share</th>
              <th scope="col">Listed</th>
              <th scope="col">Error</th>
            </tr>
          </thead>
          <tbody>
            {answer.ranks.map((one) => (
              <tr key={one.rank}>
                <th scope="row">{one.rank}</th>
                <td>{percent(one.share)}</td>
                <td>{percent(one.listed)}</td>
                <td>{one.error ? `± ${percent(one.error.mean)}` : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="soft">
        With {count(answer.opt_in_users)} opt-in users, a record is probably listed if at least {count(answer.needed_count)}{" "}
        of the discovery users have it. Errors come from {answer.runs} simulated collections.
      </p>
    </>
  );
}

/** A value that has not changed for a moment: sliders change it many times a second. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
