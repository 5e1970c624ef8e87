/** Creates a campaign, with the planner next to the form: what would a round find? */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Operator } from "../../api.ts";
import { Confirm } from "../../components/Confirm.tsx";
import { number } from "../../format.ts";
import type { CampaignMessage } from "../../generated/api.ts";
import { link } from "../../router.ts";
import { Forecast } from "./Forecast.tsx";
import { Slider } from "./Slider.tsx";

/** The values of the form. */
export interface Wish {
  readonly name: string;
  readonly epsilon: number;
  /** The exponent of δ: 6 is 1e-6. */
  readonly delta: number;
  readonly users: number;
  readonly optIn: number;
  readonly maxQueries: number;
  readonly rounds: number;
  readonly shape: string;
}

const FIRST: Wish = {
  name: "",
  epsilon: 4,
  delta: 6,
  users: 500_000,
  optIn: 0.05,
  maxQueries: 50,
  rounds: 12,
  shape: "aol",
};

/** The form and the forecast. */
export function NewCampaign({ operator }: { readonly operator: Operator }): JSX.Element {
  const [wish, setWish] = useState(FIRST);
  const [sure, setSure] = useState(false);
  const set = (changed: Partial<Wish>) => setWish((old) => ({ ...old, ...changed }));
  const create = async () => {
    const { id } = await operator.create(settingsOf(wish), crypto.randomUUID());
    location.hash = link("operator", "c", wish.name || id);
  };
  return (
    <div class="two">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSure(true);
        }}
      >
        <h2>New campaign</h2>
        <label>
          Name
          <input
            required
            pattern="[a-z0-9][a-z0-9\-]{0,62}"
            autocomplete="off"
            value={wish.name}
            onInput={(e) => set({ name: e.currentTarget.value })}
          />
          <small class="soft">Lower-case letters, digits and hyphens.</small>
        </label>
        <Slider label="ε of a round" value={wish.epsilon} values={EPSILONS} onValue={(epsilon) => set({ epsilon })} />
        <Slider
          label="δ of a round"
          value={wish.delta}
          values={[5, 6, 7, 8, 9, 10]}
          shown={(n) => `1e-${n}`}
          onValue={(delta) => set({ delta })}
        />
        <Slider label="Users" value={wish.users} values={USERS} onValue={(users) => set({ users })} />
        <Slider
          label="Opt-in share"
          value={wish.optIn}
          values={SHARES}
          shown={(v) => `${number(100 * v)} %`}
          onValue={(optIn) => set({ optIn })}
        />
        <Slider
          label="Maximum number of queries (M)"
          value={wish.maxQueries}
          values={LENGTHS}
          onValue={(maxQueries) => set({ maxQueries })}
        />
        <Slider
          label="Rounds that the budget allows"
          value={wish.rounds}
          values={[1, 2, 4, 6, 12, 24, 52]}
          onValue={(rounds) => set({ rounds })}
        />
        <label>
          Shape of the population
          <select value={wish.shape} onChange={(e) => set({ shape: e.currentTarget.value })}>
            <option value="aol">like AOL's log</option>
            <option value="yandex">like Yandex's log</option>
            <option value="zipf:1">Zipf, exponent 1</option>
            <option value="zipf:0.7">Zipf, exponent 0.7: flat</option>
          </select>
        </label>
        <button type="submit" class="primary">
          Create
        </button>
      </form>
      <Forecast wish={wish} operator={operator} />
      {sure && (
        <Confirm
          title={`Create ${wish.name}`}
          says="A campaign's promise never changes: a different promise needs a different campaign. Creating it spends nothing."
          action="Create"
          onConfirm={create}
          onCancel={() => setSure(false)}
        />
      )}
    </div>
  );
}

const EPSILONS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8];
const USERS = [10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000, 20_000_000, 100_000_000];
const SHARES = [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2];
const LENGTHS = [10, 20, 50, 100, 200, 500, 1000];

/** What the collector stores: exact decimals as text. */
export function settingsOf(wish: Wish): CampaignMessage {
  const optInUsers = Math.round(wish.users * wish.optIn);
  return {
    name: wish.name,
    epsilon: String(wish.epsilon),
    delta: `1e-${wish.delta}`,
    max_queries: wish.maxQueries,
    expected_clients: wish.users - optInUsers,
    min_opt_in: Math.max(4, Math.floor(optInUsers / 2)),
    min_reports: Math.max(2, Math.floor((wish.users - optInUsers) / 10)),
    max_epsilon: String(wish.epsilon * wish.rounds),
  };
}
