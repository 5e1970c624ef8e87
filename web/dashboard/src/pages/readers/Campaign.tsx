/** One campaign: what is popular now, and what has changed. */

import type { JSX } from "preact";
import { readers } from "../../api.ts";
import { IntervalChart } from "../../charts/IntervalChart.tsx";
import { Sparkline } from "../../charts/Sparkline.tsx";
import { Changes } from "../../components/Changes.tsx";
import { Paged } from "../../components/Paged.tsx";
import { Scroll } from "../../components/Scroll.tsx";
import { SearchBox } from "../../components/SearchBox.tsx";
import { Shown } from "../../components/Shown.tsx";
import { Verified } from "../../components/Verified.tsx";
import { counted, percent, points, pointsInterval } from "../../format.ts";
import type { TrendsAnswer } from "../../generated/api.ts";
import { useLoaded } from "../../loaded.ts";
import { newestRelease, type Published } from "../../release.ts";
import { link } from "../../router.ts";

const PAGE = 20;
const SERIES = 10;

/** The trends of a campaign. */
export function Campaign({ name }: { readonly name: string }): JSX.Element {
  const published = useLoaded(`release ${name}`, () => newestRelease(name));
  return (
    <Shown of={published}>
      {(newest) =>
        newest ? (
          <Released name={name} newest={newest} />
        ) : (
          <p class="soft">Nothing has been released yet. The first results appear here when the first round is over.</p>
        )
      }
    </Shown>
  );
}

function Released({ name, newest }: { readonly name: string; readonly newest: Published }): JSX.Element {
  const changes = useLoaded(`changes ${name} ${newest.digest}`, () => readers.changes(name));
  const trends = useLoaded(`trends ${name} ${newest.digest}`, () => readers.trends(name, SERIES));
  return (
    <>
      <SearchBox suggester={newest.suggester} campaign={name} />
      <h2>Popular in round {newest.round}</h2>
      {newest.queries.length ? (
        <Paged rows={newest.queries} size={PAGE} name="queries">
          {(rows) => (
            <IntervalChart
              rows={rows.map((row) => ({ ...row, name: row.query, href: link("c", name, "q", row.query) }))}
              label={`${counted(newest.queries.length, "query is", "queries are")} on the list; shares of all users`}
            />
          )}
        </Paged>
      ) : (
        <p class="soft">The list of this round is empty: no query was popular enough to be listed safely.</p>
      )}
      <h2>Changes since the previous release</h2>
      <Shown of={changes}>{(answer) => <Changes answer={answer} campaign={name} />}</Shown>
      <h2>Over all rounds</h2>
      <Shown of={trends}>{(answer) => <Smoothed answer={answer} campaign={name} />}</Shown>
      <h2>Download</h2>
      <p>
        Round {newest.round}: <File digest={newest.digest} name="estimates.csv" />,{" "}
        <File digest={newest.digest} name="estimates.parquet" />, <File digest={newest.digest} name="release.json" />,{" "}
        <a href={`/v1/releases/${newest.digest}`}>signed document</a>
      </p>
      <p class="soft">Queries are untrusted text: a spreadsheet may run one that starts with “=” as a formula.</p>
      <Verified keyText={newest.key} what={`the release of round ${newest.round}`} />
    </>
  );
}

function File({ digest, name }: { readonly digest: string; readonly name: string }): JSX.Element {
  return (
    <a href={`/v1/releases/${digest}/files/${name}`} download={name}>
      {name}
    </a>
  );
}

function Smoothed({ answer, campaign }: { readonly answer: TrendsAnswer; readonly campaign: string }): JSX.Element {
  if (answer.rounds.length < 2) return <p class="soft">Series appear here after the second release.</p>;
  return (
    <Scroll label="Smoothed shares">
      <table class="smoothed">
        <caption>
          Smoothed shares from round {answer.rounds[0]?.number} to round {answer.rounds.at(-1)?.number}
        </caption>
        <thead>
          <tr>
            <th scope="col">Query</th>
            <th scope="col">Now</th>
            <th scope="col">Change</th>
            <th scope="col">
              <span class="hidden">Picture</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {answer.series.map((one) => (
            <tr key={one.query}>
              <th scope="row">
                <a href={link("c", campaign, "q", one.query)}>{one.query}</a>
              </th>
              <td>{percent(one.points.at(-1)?.smoothed ?? 0)}</td>
              <td class="soft">
                {points(one.change)} <small>({pointsInterval(one.change_low, one.change_high)})</small>
              </td>
              <td class="picture">
                <Sparkline values={one.points.map((point) => point.smoothed)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
