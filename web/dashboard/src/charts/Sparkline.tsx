/** A small line without axes; the numbers are next to it. */

import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { JSX } from "preact";

const WIDTH = 96;
const HEIGHT = 24;

/** Draw a line from zero to its highest value. */
export function Sparkline({ values }: { readonly values: readonly number[] }): JSX.Element {
  const x = scaleLinear([0, Math.max(values.length - 1, 1)], [3, WIDTH - 3]);
  const y = scaleLinear([0, Math.max(...values, 1e-9)], [HEIGHT - 3, 3]);
  const path = line<number>(
    (_, i) => x(i),
    (value) => y(Math.max(value, 0)),
  )(values as number[]);
  const last = values.at(-1) ?? 0;
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="smooth" d={path ?? ""} />
      <circle class="dot" cx={x(values.length - 1)} cy={y(Math.max(last, 0))} r={2.5} />
    </svg>
  );
}
