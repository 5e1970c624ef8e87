/** The start page: what this is, and all campaigns. */

import type { JSX } from "preact";
import { readers } from "../../api.ts";
import { Shown } from "../../components/Shown.tsx";
import { useLoaded } from "../../loaded.ts";
import { link } from "../../router.ts";

/** All campaigns with their promise and what is left of their budgets. */
export function Campaigns(): JSX.Element {
  const campaigns = useLoaded("campaigns", readers.campaigns);
  return (
    <>
      <h1>What people search for, without knowing who searched</h1>
      <p>
        This collector learns which queries are popular, with differential privacy. A few opt-in users contribute records,
        from which a noisy list is made; everyone else's device sends a report on that list, randomised before it is sent.
        Every result is signed, and the privacy cost of every round is in a <a href={link("ledger")}>public ledger</a>.
      </p>
      <h2>Campaigns</h2>
      <Shown of={campaigns}>
        {(all) =>
          all.length === 0 ? (
            <p class="soft">
              No campaigns yet. The operator can <a href={link("operator", "new")}>create one</a>.
            </p>
          ) : (
            <ul class="cards">
              {all.map((one) => (
                <li key={one.id}>
                  <h3>
                    <a href={link("c", one.name)}>{one.name}</a>
                  </h3>
                  <p>
                    A round costs one person at most ε&nbsp;=&nbsp;{one.epsilon}, δ&nbsp;=&nbsp;{one.delta}.{" "}
                    <a href={link("c", one.name, "privacy")}>What that means</a>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  );
}
