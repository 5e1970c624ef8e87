/** Shares with their 95 % intervals, one row each. The table next to it says the same in words. */

import { scaleLinear } from "d3-scale";
import type { JSX } from "preact";
import { Scroll } from "../components/Scroll.tsx";
import { interval, percent } from "../format.ts";

/** One row: a name, a share and its interval, and marks of the two groups. */
export interface IntervalRow {
  readonly name: string;
  readonly href?: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly marks?: readonly { readonly name: string; readonly at: number; readonly class: string }[];
}

interface Properties {
  readonly rows: readonly IntervalRow[];
  readonly label: string;
  /** What the names are. */
  readonly head?: string;
}

const WIDTH = 320;
const ROW = 26;
const PAD = 8;

/** Draw the rows as a table whose last column is a picture. */
export function IntervalChart({ rows, label, head = "Query" }: Properties): JSX.Element {
  const most = Math.max(...rows.map((row) => row.high), 1e-9);
  const scale = scaleLinear([0, most], [PAD, WIDTH - PAD]);
  return (
    <Scroll label={label}>
      <table class="intervals">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col">Share</th>
            <th scope="col" class="wide">
              95 % interval
            </th>
            <th scope="col" class="picture">
              <span class="hidden">Picture, </span>0 to {percent(most)}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.href ? <a href={row.href}>{row.name}</a> : row.name}</th>
              <td>
                {percent(row.share)}
                <small class="narrow soft">{interval(row.low, row.high)}</small>
              </td>
              <td class="wide soft">{interval(row.low, row.high)}</td>
              <td class="picture">
                <svg viewBox={`0 0 ${WIDTH} ${ROW}`} aria-hidden="true">
                  <line class="axis" x1={scale(0)} x2={scale(most)} y1={ROW / 2} y2={ROW / 2} />
                  <line class="whisker" x1={scale(row.low)} x2={scale(row.high)} y1={ROW / 2} y2={ROW / 2} />
                  {row.marks?.map((mark) => (
                    <path key={mark.name} class={mark.class} d={`M${scale(Math.max(mark.at, 0))},${ROW / 2 - 7}v14`} />
                  ))}
                  <circle class="dot" cx={scale(Math.max(row.share, 0))} cy={ROW / 2} r={4.5} />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
