/** The invitation to a campaign, to publish: a link, a file and a QR code. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Operator } from "../../api.ts";
import type { CampaignOverview, InvitationShown } from "../../generated/api.ts";

interface Properties {
  readonly campaign: CampaignOverview;
  readonly operator: Operator;
}

/** A form for what the collector cannot know, and the invitation. */
export function Invite({ campaign, operator }: Properties): JSX.Element {
  const [shown, setShown] = useState<InvitationShown | null>(null);
  const [problem, setProblem] = useState("");
  const limit = campaign.budget.find((line) => line.group === "client" && line.limit === "max_epsilon")?.most;
  const submit = async (event: Event) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    try {
      setShown(await operator.invitation(campaign.id, String(values.get("address")), String(values.get("epsilon"))));
      setProblem("");
    } catch (error) {
      setShown(null);
      setProblem((error as Error).message);
    }
  };
  return (
    <form onSubmit={submit}>
      <p>
        A device participates only if its user accepts an invitation. It contains nothing secret; publish it where people
        trust you, because their devices rely on it.
      </p>
      <label>
        Address at which devices reach this collector
        <input name="address" type="url" required value={location.origin} autocomplete="off" />
      </label>
      <label>
        ε that one device may spend in all rounds together
        <input name="epsilon" inputMode="decimal" required={!limit} placeholder={limit ?? ""} autocomplete="off" />
        <small class="soft">{limit ? `By default ${limit}, the campaign's limit.` : "The campaign has no limit."}</small>
      </label>
      <button type="submit">Show the invitation</button>
      {problem && (
        <p class="warning" role="alert">
          {problem}
        </p>
      )}
      {shown && <Invitation shown={shown} />}
    </form>
  );
}

function Invitation({ shown }: { readonly shown: InvitationShown }): JSX.Element {
  const { name, collector, epsilon, lifetime_epsilon } = shown.invitation;
  const file = `${JSON.stringify(shown.invitation, null, 2)}\n`;
  return (
    <>
      <p>
        A device that accepts it allows ε = {epsilon} in each round, and {lifetime_epsilon} over its lifetime.
      </p>
      {collector.startsWith("http:") && <p class="warning">This address works on this machine only.</p>}
      <textarea readOnly rows={4} aria-label="Link" value={shown.link} onFocus={(event) => event.currentTarget.select()} />
      <p>
        <a href={dataUrl("application/json", file)} download={`invitation-${name}.json`}>
          As a file
        </a>
        ,{" "}
        <a href={dataUrl("image/svg+xml", shown.qr_code)} download={`invitation-${name}.svg`}>
          QR code as SVG
        </a>
      </p>
      <img class="qr-code" alt={`QR code of the invitation to ${name}`} src={dataUrl("image/svg+xml", shown.qr_code)} />
    </>
  );
}

function dataUrl(type: string, text: string): string {
  return `data:${type};charset=utf-8,${encodeURIComponent(text)}`;
}
