/** A share over the rounds: published values with error bars, and the smoothed line with its band. */

import { scaleLinear, scalePoint } from "d3-scale";
import { area, line } from "d3-shape";
import type { JSX } from "preact";
import { percent } from "../format.ts";
import type { ReleasedRound, TrendSeries } from "../generated/api.ts";
import { useWidth } from "./width.ts";

const HEIGHT = 220;
const MARGIN = { left: 56, right: 16, top: 12, bottom: 28 };

interface Properties {
  readonly series: TrendSeries;
  readonly rounds: readonly ReleasedRound[];
}

/** Draw one query's history; the table under it is the same in numbers. */
export function SeriesChart({ series, rounds }: Properties): JSX.Element {
  const [figure, width] = useWidth(640);
  const points = series.points.map((point, i) => ({ ...point, round: rounds[i]?.number ?? i + 1 }));
  const most = Math.max(...points.flatMap((p) => [p.high ?? 0, p.smoothed_high]), 1e-9);
  const x = scalePoint<number>(
    points.map((p) => p.round),
    [MARGIN.left, width - MARGIN.right],
  ).padding(0.5);
  const y = scaleLinear([0, most], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const at = (round: number) => x(round) ?? 0;
  const every = Math.ceil(points.length / (width / 50));
  type Point = (typeof points)[number];
  const band = area<Point>(
    (p) => at(p.round),
    (p) => y(Math.max(p.smoothed_low, 0)),
    (p) => y(p.smoothed_high),
  )(points);
  const smooth = line<Point>(
    (p) => at(p.round),
    (p) => y(Math.max(p.smoothed, 0)),
  )(points);
  return (
    <figure ref={figure}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={described(series, rounds)}>
        {y.ticks(4).map((tick) => (
          <g key={tick}>
            <line class="axis" x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} />
            <text x={MARGIN.left - 8} y={y(tick) + 4} class="tick end">
              {percent(tick)}
            </text>
          </g>
        ))}
        {points.map(
          (p, i) =>
            i % every === 0 && (
              <text key={p.round} x={at(p.round)} y={HEIGHT - 8} class="tick middle">
                {p.round}
              </text>
            ),
        )}
        <path class="band" d={band ?? ""} />
        <path class="smooth" d={smooth ?? ""} />
        {points.map(
          (p) =>
            p.share !== null && (
              <g key={p.round}>
                <line
                  class="whisker"
                  x1={at(p.round)}
                  x2={at(p.round)}
                  y1={y(Math.max(p.low ?? 0, 0))}
                  y2={y(p.high ?? 0)}
                />
                <circle class="dot" cx={at(p.round)} cy={y(Math.max(p.share, 0))} r={4} />
              </g>
            ),
        )}
      </svg>
      <figcaption class="soft">
        Dots: each round's published share with its 95 % interval. Line and band: smoothed over all rounds. A round without a
        dot did not list the query.
      </figcaption>
    </figure>
  );
}

function described(series: TrendSeries, rounds: readonly ReleasedRound[]): string {
  const first = series.points[0];
  const last = series.points.at(-1);
  if (!first || !last) return `${series.query}: no rounds`;
  const span = `from round ${rounds[0]?.number} to round ${rounds.at(-1)?.number}`;
  return `The smoothed share of ${series.query} went from ${percent(first.smoothed)} to ${percent(last.smoothed)} ${span}.`;
}
