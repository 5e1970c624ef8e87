/** A slider over a few chosen values. */

import type { JSX } from "preact";
import { number } from "../../format.ts";

interface Properties {
  readonly label: string;
  readonly value: number;
  readonly values: readonly number[];
  readonly shown?: (value: number) => string;
  readonly onValue: (value: number) => void;
}

/** A range input whose steps are the values. */
export function Slider({ label, value, values, shown = number, onValue }: Properties): JSX.Element {
  return (
    <label class="slider">
      <span>
        {label} <output>{shown(value)}</output>
      </span>
      <input
        type="range"
        min={0}
        max={values.length - 1}
        step={1}
        value={values.indexOf(value)}
        aria-valuetext={shown(value)}
        onInput={(event) => onValue(values[event.currentTarget.valueAsNumber] ?? value)}
      />
    </label>
  );
}
