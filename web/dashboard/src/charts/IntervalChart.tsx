/** Shares with their 95 % intervals, one row each. The table next to it says the same in words. */

import { scaleLinear } from "d3-scale";
import type { JSX } from "preact";
import { Scroll } from "../components/Scroll.tsx";
import { interval, percent } from "../format.ts";

/** One row: a name, a share and its interval. */
export interface IntervalRow {
  readonly name: string;
  readonly href?: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

interface Properties {
  readonly rows: readonly IntervalRow[];
  readonly label: string;
  /** What the names are. */
  readonly head?: string;
}

const ROW = 26;

/** Draw the rows as a table whose last column is a picture. */
export function IntervalChart({ rows, label, head = "Query" }: Properties): JSX.Element {
  const most = Math.max(...rows.map((row) => row.high), 1e-9);
  const scale = scaleLinear([0, most], [4, 96]); // in percent of the width, which is small on a phone
  const at = (share: number) => `${scale(Math.max(share, 0))}%`;
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
                <svg height={ROW} aria-hidden="true">
                  <line class="axis" x1={at(0)} x2={at(most)} y1={ROW / 2} y2={ROW / 2} />
                  <line class="whisker" x1={at(row.low)} x2={at(row.high)} y1={ROW / 2} y2={ROW / 2} />
                  <circle class="dot" cx={at(row.share)} cy={ROW / 2} r={4.5} />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
