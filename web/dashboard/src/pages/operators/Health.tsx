/** Whether the collector is well, and what it receives. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Sparkline } from "../../charts/Sparkline.tsx";
import { count } from "../../format.ts";
import type { Overview } from "../../generated/api.ts";

const WINDOW_SECONDS = 60;
const GIGABYTE = 1e9;

interface Sample {
  readonly at: number;
  readonly stored: number;
}

/** Health, reports per minute as seen by this page, and refusals by reason. */
export function Health({ seen }: { readonly seen: Overview }): JSX.Element {
  const rates = useRates(seen);
  const refused = Object.entries(seen.reports_refused).filter(([, number]) => number > 0);
  const wrong = Object.entries(seen.health).filter(([, state]) => state !== "ok");
  return (
    <>
      {wrong.map(([part, state]) => (
        <p key={part} class="warning" role="alert">
          {part}: {state}
        </p>
      ))}
      <dl class="facts">
        <div>
          <dt>Health</dt>
          <dd>{wrong.length ? "needs attention" : "ok"}</dd>
        </div>
        <div>
          <dt>Reports per minute</dt>
          <dd data-testid="rate">
            {count(rates.at(-1) ?? 0)} <Sparkline values={rates.length > 1 ? rates : [0, 0]} />
          </dd>
        </div>
        <div>
          <dt>Reports since the collector started</dt>
          <dd>{count(seen.reports_stored)}</dd>
        </div>
        <div>
          <dt>Refused</dt>
          {refused.length === 0 && <dd>none</dd>}
          {refused.map(([reason, number]) => (
            <dd key={reason}>
              {count(number)} <span class="small">{reason}</span>
            </dd>
          ))}
        </div>
        <div>
          <dt>Free disk space</dt>
          <dd>{count(seen.free_bytes / GIGABYTE)} GB</dd>
        </div>
      </dl>
    </>
  );
}

/** Reports per minute over the last minute, once for every response. */
function useRates(seen: Overview): readonly number[] {
  const samples = useRef<Sample[]>([]);
  const [rates, setRates] = useState<readonly number[]>([]);
  useEffect(() => {
    const at = performance.now() / 1000;
    const last = samples.current.at(-1);
    if (last && seen.reports_stored < last.stored) samples.current = []; // the collector was restarted
    samples.current = [
      ...samples.current.filter((one) => one.at > at - WINDOW_SECONDS),
      { at, stored: seen.reports_stored },
    ];
    const first = samples.current[0];
    if (!first || at <= first.at) return;
    const rate = (60 * (seen.reports_stored - first.stored)) / (at - first.at);
    setRates((old) => [...old.slice(-59), rate]);
  }, [seen]);
  return rates;
}
