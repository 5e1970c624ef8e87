/** Buttons for the steps of a round. Each first says what it will spend and what cannot be undone. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Operator } from "../../api.ts";
import { Confirm } from "../../components/Confirm.tsx";
import type { CampaignOverview, StepShown } from "../../generated/api.ts";

const NAMES: Record<string, string> = {
  open: "Open a round",
  freeze: "Make the list",
  close: "Close and release",
  abort: "Abort",
};

interface Properties {
  readonly campaign: CampaignOverview;
  readonly operator: Operator;
  readonly onDone: () => void;
}

/** The steps that can be taken now. */
export function Steps({ campaign, operator, onDone }: Properties): JSX.Element {
  const [step, setStep] = useState<StepShown | null>(null);
  const take = async (values: FormData) => {
    if (step) await takeStep(step.step, campaign, operator, values);
    setStep(null);
    onDone();
  };
  return (
    <>
      <p class="buttons">
        {campaign.steps.map((one) => (
          <button key={one.step} type="button" class={one.step === "abort" ? "danger" : ""} onClick={() => setStep(one)}>
            {NAMES[one.step]}
          </button>
        ))}
      </p>
      {step && (
        <Confirm
          title={`${NAMES[step.step]}: ${campaign.name}`}
          says={step.says}
          action={NAMES[step.step] ?? ""}
          onConfirm={take}
          onCancel={() => setStep(null)}
        >
          {step.step === "abort" && (
            <label>
              Reason, which becomes public
              <input name="reason" required maxLength={200} autocomplete="off" />
            </label>
          )}
          {step.step === "open" && (
            <>
              <label>
                Make the list at (optional)
                <input name="lists_at" type="datetime-local" />
              </label>
              <label>
                Close at (optional)
                <input name="closes_at" type="datetime-local" />
              </label>
            </>
          )}
        </Confirm>
      )}
    </>
  );
}

function takeStep(step: string, campaign: CampaignOverview, operator: Operator, values: FormData): Promise<unknown> {
  const round = campaign.round?.id ?? "";
  switch (step) {
    case "open":
      return operator.open(campaign.id, { ...at(values, "lists_at"), ...at(values, "closes_at") }, crypto.randomUUID());
    case "freeze":
      return operator.list(round);
    case "close":
      return operator.close(round);
    default:
      return operator.abort(round, String(values.get("reason")));
  }
}

function at(values: FormData, name: string): Record<string, number> {
  const text = String(values.get(name) ?? "");
  return text ? { [name]: Math.floor(new Date(text).getTime() / 1000) } : {};
}
