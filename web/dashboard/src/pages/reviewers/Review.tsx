/** For reviewers: the audit, the exact parameters, what was destroyed, and the manifest. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { readers } from "../../api.ts";
import { Scroll } from "../../components/Scroll.tsx";
import { Shown } from "../../components/Shown.tsx";
import { time } from "../../format.ts";
import type { RoundHistory } from "../../generated/api.ts";
import { useLoaded } from "../../loaded.ts";
import { newestRelease } from "../../release.ts";

const PAGE = 20; // rounds in one response

/** Everything that a privacy review of a campaign needs. */
export function Review({ name }: { readonly name: string }): JSX.Element {
  const audit = useLoaded(`audit ${name}`, () => readers.audit(name));
  const promise = useLoaded(`promise ${name}`, () => readers.promise(name));
  const release = useLoaded(`release ${name}`, () => newestRelease(name));
  const versions = useLoaded("versions", readers.versions);
  return (
    <>
      <h2>Audit</h2>
      <p>The exact privacy loss of each mechanism, computed from the integers that decide every private outcome.</p>
      <Shown of={audit}>
        {({ findings, head_list }) => (
          <Scroll label="Audit">
            <table>
              <caption>
                {head_list ? (
                  <>
                    For the list <code>{head_list.slice(0, 16)}…</code>
                  </>
                ) : (
                  "Before the first list"
                )}
              </caption>
              <thead>
                <tr>
                  <th scope="col">Mechanism</th>
                  <th scope="col">Claimed ε</th>
                  <th scope="col">Worst ε</th>
                  <th scope="col">Claimed δ</th>
                  <th scope="col">Exact δ</th>
                  <th scope="col">Verdict</th>
                </tr>
              </thead>
              <tbody>
                {findings.map((one) => (
                  <tr key={one.mechanism}>
                    <th scope="row">{one.mechanism}</th>
                    <td>{one.claimed_epsilon}</td>
                    <td>{one.worst_epsilon ?? "unbounded"}</td>
                    <td>{one.claimed_delta}</td>
                    <td title={one.exact_delta}>{Number(one.exact_delta).toPrecision(6)}</td>
                    <td class={one.verdict === "holds" ? "good" : "bad"}>{one.verdict}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Shown>
      <h2>Rounds, and what was destroyed</h2>
      <Rounds name={name} />
      <h2>Parameters</h2>
      <Shown of={promise}>{(answer) => <Facts values={answer.parameters} />}</Shown>
      <h2>Manifest of the newest release</h2>
      <Shown of={release}>
        {(newest) =>
          newest ? (
            <details>
              <summary>Round {newest.round}, as signed</summary>
              <pre>{JSON.stringify(newest.release.manifest, null, 2)}</pre>
            </details>
          ) : (
            <p class="soft">Nothing has been released yet.</p>
          )
        }
      </Shown>
      <h2>Versions</h2>
      <Shown of={versions}>{(answer) => <Facts values={{ collector: answer.version, ...answer.packages }} />}</Shown>
    </>
  );
}

function Facts({ values }: { readonly values: Record<string, unknown> }): JSX.Element {
  return (
    <dl class="facts">
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** One page of rounds: the newest ones, or those before another one. */
function Rounds({ name }: { readonly name: string }): JSX.Element {
  const [before, setBefore] = useState<string>();
  const loaded = useLoaded(`rounds ${name} ${before}`, () => readers.rounds(name, before));
  return (
    <Shown of={loaded}>
      {(rounds) => (
        <>
          {rounds.length ? <History rounds={rounds} /> : <p class="soft">No {before ? "older" : ""} rounds.</p>}
          <p class="buttons">
            {before && (
              <button type="button" onClick={() => setBefore(undefined)}>
                Newest rounds
              </button>
            )}
            {rounds.length === PAGE && (
              <button type="button" onClick={() => setBefore(rounds.at(-1)?.round.id)}>
                Older rounds
              </button>
            )}
          </p>
        </>
      )}
    </Shown>
  );
}

function History({ rounds }: { readonly rounds: readonly RoundHistory[] }): JSX.Element {
  return (
    <ol class="rounds" reversed>
      {rounds.map((one) => (
        <li key={one.round.id} value={one.round.number}>
          <strong>{one.round.state}</strong>
          {one.round.problem && `: ${one.round.problem}`}
          <ul>
            {one.events.map((event) => (
              <li key={event.event}>
                {event.state}, in the hour of {time(event.at)}
              </li>
            ))}
            {one.destroyed.map((part) => (
              <li key={part.what} class="soft">
                destroyed: {part.what}
                {part.at !== null && `, in the hour of ${time(part.at)}`}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
