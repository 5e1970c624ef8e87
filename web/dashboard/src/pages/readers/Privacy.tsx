/** What a campaign promises, in words a layperson understands, with the odds. */

import type { JSX } from "preact";
import { readers } from "../../api.ts";
import { Shown } from "../../components/Shown.tsx";
import { percent } from "../../format.ts";
import type { GroupPromise } from "../../generated/api.ts";
import { useLoaded } from "../../loaded.ts";

/** The promise to each group. */
export function Privacy({ name }: { readonly name: string }): JSX.Element {
  const promise = useLoaded(`promise ${name}`, () => readers.promise(name));
  return (
    <>
      <h2>What is promised to people</h2>
      <Shown of={promise}>
        {(answer) => (
          <>
            {answer.warnings.map((text) => (
              <p key={text} class="warning">
                {text}
              </p>
            ))}
            {answer.groups.map((one) => (
              <Group key={one.group} promise={one} />
            ))}
            <p class="soft">{answer.exposure}</p>
          </>
        )}
      </Shown>
    </>
  );
}

function Group({ promise }: { readonly promise: GroupPromise }): JSX.Element {
  const fails = promise.failure_probability === "0" ? "" : `, except with a probability of ${promise.failure_probability}`;
  return (
    <section class="promise">
      <h3>{promise.group.charAt(0).toUpperCase() + promise.group.slice(1)}</h3>
      <p>{promise.meaning}</p>
      <p>
        The odds: someone who is {percent(promise.prior)} sure what a person searched for can be at most{" "}
        <strong>{percent(promise.posterior)}</strong> sure after one round{fails}.
      </p>
      <p class="soft">
        Exactly: ε = {promise.epsilon}, δ = {promise.delta}. Unit: {promise.unit}. Neighbours: {promise.neighbours}.
      </p>
    </section>
  );
}
