/** One campaign of the operator: its round, what can be done next, and what remains of its budget. */

import type { JSX } from "preact";
import type { Operator } from "../../api.ts";
import { Scroll } from "../../components/Scroll.tsx";
import { count, counted, distance, time } from "../../format.ts";
import type { CampaignOverview } from "../../generated/api.ts";
import { link } from "../../router.ts";
import { Enrol } from "./Enrol.tsx";
import { Invite } from "./Invite.tsx";
import { Steps } from "./Steps.tsx";

interface Properties {
  readonly campaign: CampaignOverview;
  /** The collector's clock. */
  readonly now: number;
  readonly operator: Operator;
  readonly onDone: () => void;
}

const LIMITS: Record<string, string> = {
  max_epsilon: "ε, all rounds",
  max_delta: "δ, all rounds",
  period_epsilon: "ε, period",
};

/** Everything about one campaign. */
export function CampaignPanel({ campaign, now, operator, onDone }: Properties): JSX.Element {
  const { round } = campaign;
  return (
    <section class="panel" aria-labelledby={`campaign-${campaign.id}`}>
      <h2 id={`campaign-${campaign.id}`}>
        <a href={link("operator", "c", campaign.name)}>{campaign.name}</a>{" "}
        <a class="soft small" href={link("c", campaign.name)}>
          results
        </a>
      </h2>
      <p>
        {round ? (
          <>
            Round {round.number} is <strong data-testid="state">{round.state}</strong>
            {campaign.meaning === round.state ? "" : `: ${campaign.meaning}`}.{sizes(campaign)}
          </>
        ) : (
          "No round has been opened yet."
        )}{" "}
        {campaign.rounds_left !== null && `The budget allows ${counted(campaign.rounds_left, "more round", "more rounds")}.`}
      </p>
      {round?.problem && <p class="warning">{round.problem}</p>}
      {round?.lists_at && <p class="soft">List due {due(round.lists_at, now)}.</p>}
      {round?.closes_at && <p class="soft">Closes {due(round.closes_at, now)}.</p>}
      <Steps campaign={campaign} operator={operator} onDone={onDone} />
      <details>
        <summary>Budget</summary>
        <Budget campaign={campaign} />
      </details>
      <details>
        <summary>Enrol opt-in users</summary>
        <Enrol campaign={campaign.id} operator={operator} />
      </details>
      <details>
        <summary>Invite devices</summary>
        <Invite campaign={campaign} operator={operator} />
      </details>
    </section>
  );
}

/** How many people participate in a round that is under way. */
function sizes({ opt_in_users, reports }: CampaignOverview): string {
  const users = opt_in_users === null ? "" : ` ${counted(opt_in_users, "opt-in user", "opt-in users")}.`;
  return reports === null ? users : ` ${counted(reports, "report", "reports")}.`;
}

function due(at: number, now: number): string {
  return `${distance(at - now)} (${time(at)})`;
}

function Budget({ campaign }: { readonly campaign: CampaignOverview }): JSX.Element {
  return (
    <Scroll label={`Budget of ${campaign.name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Limit</th>
            <th scope="col">Spent</th>
            <th scope="col">Of</th>
            <th scope="col">After one more round</th>
            <th scope="col">More rounds</th>
          </tr>
        </thead>
        <tbody>
          {campaign.budget.map((line) => (
            <tr key={`${line.group} ${line.limit}`}>
              <th scope="row">{line.group}</th>
              <td>{line.days ? `${LIMITS[line.limit]} of ${line.days} days` : LIMITS[line.limit]}</td>
              <td>{line.spent}</td>
              <td>{line.most ?? "unlimited"}</td>
              <td>{line.after}</td>
              <td>{line.rounds_left === null ? "any number" : count(line.rounds_left)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
