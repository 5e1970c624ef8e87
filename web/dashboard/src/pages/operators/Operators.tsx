/** The operator's pages: everything behind the token. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { operators, Problem } from "../../api.ts";
import { Shown } from "../../components/Shown.tsx";
import { useLoaded } from "../../loaded.ts";
import { link, type Route } from "../../router.ts";
import { storedToken, storeToken } from "../../session.ts";
import { CampaignPanel } from "./CampaignPanel.tsx";
import { Health } from "./Health.tsx";
import { NewCampaign } from "./NewCampaign.tsx";
import { SignIn } from "./SignIn.tsx";

const POLL_SECONDS = 2;

/** Ask for the token first. */
export function Operators({ route }: { readonly route: Route }): JSX.Element {
  const [token, setToken] = useState(storedToken());
  const [reason, setReason] = useState("");
  const change = (next: string | null, why = "") => {
    storeToken(next);
    setReason(why);
    setToken(next);
  };
  if (token === null) return <SignIn reason={reason} onToken={(next) => change(next)} />;
  return <SignedIn token={token} route={route} onEnd={(why) => change(null, why)} />;
}

interface SignedInProperties {
  readonly token: string;
  readonly route: Route;
  readonly onEnd: (reason: string) => void;
}

function SignedIn({ token, route, onEnd }: SignedInProperties): JSX.Element {
  const operator = useMemo(() => operators(token), [token]);
  const overview = useLoaded(`overview ${token}`, operator.overview, POLL_SECONDS);
  if (overview.problem instanceof Problem && [401, 403].includes(overview.problem.status))
    queueMicrotask(() => onEnd("The token is no longer valid. Sign in with the new one."));
  const [page, name] = route;
  return (
    <>
      <header class="bar">
        <h1>Operator</h1>
        <nav aria-label="Operator">
          <a href={link("operator")}>Rounds</a> <a href={link("operator", "new")}>New campaign</a>{" "}
          <button type="button" onClick={() => onEnd("")}>
            Sign out
          </button>
        </nav>
      </header>
      {page === "new" ? (
        <NewCampaign operator={operator} />
      ) : (
        <Shown of={overview}>
          {(seen) => (
            <>
              <Health seen={seen} />
              {seen.campaigns.length === 0 && (
                <p class="soft">
                  No campaigns yet. <a href={link("operator", "new")}>Create one</a>.
                </p>
              )}
              {seen.campaigns
                .filter((one) => page !== "c" || one.name === name)
                .map((one) => (
                  <CampaignPanel key={one.id} campaign={one} now={seen.now} operator={operator} onDone={overview.again} />
                ))}
            </>
          )}
        </Shown>
      )}
    </>
  );
}
