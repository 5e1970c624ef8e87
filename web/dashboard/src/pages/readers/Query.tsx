/** One query: its URLs, both groups' estimates, and its history. */

import type { JSX } from "preact";
import { readers } from "../../api.ts";
import { IntervalChart } from "../../charts/IntervalChart.tsx";
import { SeriesChart } from "../../charts/SeriesChart.tsx";
import { Scroll } from "../../components/Scroll.tsx";
import { Shown } from "../../components/Shown.tsx";
import { count, interval, number, percent } from "../../format.ts";
import type { TrendsAnswer } from "../../generated/api.ts";
import { useLoaded } from "../../loaded.ts";
import { type Estimate, newestRelease, type Published } from "../../release.ts";

const ALL = 1000;
const Z = 1.96;

/** A page about one query of the newest release. */
export function Query({ campaign, query }: { readonly campaign: string; readonly query: string }): JSX.Element {
  const published = useLoaded(`release ${campaign}`, () => newestRelease(campaign));
  const trends = useLoaded(`trends ${campaign}`, () => readers.trends(campaign, ALL));
  return (
    <>
      <h2 class="query">{query}</h2>
      <Shown of={published}>{(newest) => <Now newest={newest} query={query} />}</Shown>
      <h3>History</h3>
      <Shown of={trends}>{(answer) => <History answer={answer} query={query} />}</Shown>
    </>
  );
}

function Now({ newest, query }: { readonly newest: Published | null; readonly query: string }): JSX.Element {
  const row = newest?.queries.find((one) => one.query === query);
  if (!newest || !row) return <p class="soft">The newest release does not list this query.</p>;
  const urls = newest.release.records.filter((one) => one.query === query).sort((a, b) => b.share - a.share);
  return (
    <>
      <p>
        Share in round {newest.round}: <strong>{percent(row.share)}</strong> of all users; 95 % interval{" "}
        {interval(row.low, row.high)}.
      </p>
      <Groups row={row} />
      <h3>Pages that people opened</h3>
      <IntervalChart
        head="Page"
        label="Shares of all users"
        rows={urls.map((one) => ({ ...one, name: one.url ?? "any other page" }))}
      />
    </>
  );
}

function Groups({ row }: { readonly row: Estimate }): JSX.Element {
  const { opt_in_share, opt_in_variance } = row;
  const groups = [
    { name: "Opt-in users", share: opt_in_share, variance: opt_in_variance, weight: row.opt_in_weight },
    { name: "Clients", share: row.client_share, variance: row.client_variance, weight: 1 - row.opt_in_weight },
  ];
  return (
    <>
      <Scroll label="What each group says">
        <table>
          <caption>Each group's estimate, and its weight in the result</caption>
          <thead>
            <tr>
              <th scope="col">Group</th>
              <th scope="col">Share</th>
              <th scope="col">Standard error</th>
              <th scope="col">Weight</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                <td>{one.share === null ? "none" : percent(one.share)}</td>
                <td>{one.variance === null ? "–" : percent(Math.sqrt(one.variance))}</td>
                <td>{percent(one.weight)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {opt_in_share !== null && opt_in_variance !== null && (
        <p class="soft">{disagreement(opt_in_share - row.client_share, opt_in_variance + row.client_variance)}</p>
      )}
    </>
  );
}

function disagreement(difference: number, variance: number): string {
  const size = variance > 0 ? Math.abs(difference) / Math.sqrt(variance) : 0;
  const words = `The groups differ by ${percent(Math.abs(difference))}, which is ${number(size)} standard errors`;
  return `${words}: ${size > Z ? "noise alone causes that in less than 5 % of all cases" : "no sign of a real difference"}.`;
}

function History({ answer, query }: { readonly answer: TrendsAnswer; readonly query: string }): JSX.Element {
  const series = answer.series.find((one) => one.query === query);
  if (!series)
    return (
      <p class="soft">
        No history: series are computed only for the {count(answer.series.length)} most popular queries of all rounds.
      </p>
    );
  return (
    <>
      <SeriesChart series={series} rounds={answer.rounds} />
      <details>
        <summary>The same as a table</summary>
        <Scroll label="History">
          <table>
            <thead>
              <tr>
                <th scope="col">Round</th>
                <th scope="col">Published share</th>
                <th scope="col">Smoothed</th>
                <th scope="col">95 % interval</th>
              </tr>
            </thead>
            <tbody>
              {series.points.map((point, i) => (
                <tr key={answer.rounds[i]?.number}>
                  <th scope="row">{answer.rounds[i]?.number}</th>
                  <td>{point.share === null ? "not listed" : percent(point.share)}</td>
                  <td>{percent(point.smoothed)}</td>
                  <td class="soft">{interval(point.smoothed_low, point.smoothed_high)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </>
  );
}
