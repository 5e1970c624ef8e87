/** The public ledger, with its chain verified in the browser. */

import type { JSX } from "preact";
import { readers } from "../../api.ts";
import { Paged } from "../../components/Paged.tsx";
import { Scroll } from "../../components/Scroll.tsx";
import { Shown } from "../../components/Shown.tsx";
import { count } from "../../format.ts";
import { useLoaded } from "../../loaded.ts";
import { checkedChain } from "../../verify.ts";

const PAGE = 50;

/** What each group has spent in each round. */
export function Ledger(): JSX.Element {
  const loaded = useLoaded("ledger", async () => {
    const [entries, campaigns] = await Promise.all([readers.ledger(), readers.campaigns()]);
    return { entries, names: new Map(campaigns.map((one) => [one.id, one.name])), chain: await checkedChain(entries) };
  });
  return (
    <>
      <h1>The privacy ledger</h1>
      <p>
        What every round has spent. Each entry contains the digest of the one before it, so any later change or removal would
        show.
      </p>
      <Shown of={loaded}>
        {({ entries, names, chain }) => (
          <>
            {chain.wrong === null ? (
              <p class="verified">
                <span aria-hidden="true">✓ </span>Your browser has recomputed the digests of {count(chain.correct)}{" "}
                {chain.correct === 1 ? "entry" : "entries"}: the chain is complete. Its end is{" "}
                <code>{entries.at(-1)?.digest ?? "empty"}</code>.
              </p>
            ) : (
              <p class="warning" role="alert">
                Entry {chain.wrong} does not follow from the one before it. The ledger was changed or is damaged.
              </p>
            )}
            <Paged rows={[...entries].reverse()} size={PAGE} name="entries">
              {(some) => (
                <Scroll label="Entries">
                  <table>
                    <caption>Newest entries first</caption>
                    <thead>
                      <tr>
                        <th scope="col">Entry</th>
                        <th scope="col">Campaign</th>
                        <th scope="col">Group</th>
                        <th scope="col">ε</th>
                        <th scope="col">δ</th>
                        <th scope="col">Digest</th>
                      </tr>
                    </thead>
                    <tbody>
                      {some.map((one) => (
                        <tr key={one.number}>
                          <th scope="row">{one.number}</th>
                          <td>{names.get(one.campaign) ?? one.campaign}</td>
                          <td>{one.group}</td>
                          <td>{one.epsilon}</td>
                          <td>{one.delta}</td>
                          <td>
                            <code title={one.digest}>{one.digest.slice(0, 12)}…</code>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Scroll>
              )}
            </Paged>
          </>
        )}
      </Shown>
    </>
  );
}
