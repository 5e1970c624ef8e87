/** What the user decides in the extension's pages, made durable before anything else happens. */
import { type Invitation, ParameterError, randomBytes, readInvitation, StateError } from "@blender-dp/client";
import type { LimitQuestion, Messages } from "../shared/messages.ts";
import { hostPattern } from "../shared/permission.ts";
import { deleteData, finishLeaving, forgetCampaign } from "./deletion.ts";
import { withNetwork, withoutNetwork } from "./network.ts";
import { agentOf, invitationOf, limitQuestion } from "./participant.ts";
import { requirePermission, returnPermission } from "./permission.ts";
import { nextTime, setAlarm } from "./schedule.ts";
import { changeSettings, readSettings, type Settings, storeRefusal } from "./settings.ts";

const TOKEN = /^[!-~]{1,200}$/;

/** Join one of the groups, or decline. */
export async function consent({ answer, token }: Messages["consent"]["fields"]): Promise<void> {
  await refuseIfLeft();
  if (answer === "declined") return decline();
  if (answer === "opt-in" && !TOKEN.test(token ?? "")) {
    throw new ParameterError("token", "is missing or invalid", "Paste the token that the curator gave you");
  }
  const drawn = randomBytes(32);
  await changeSettings(({ choiceKey }) => ({
    consent: answer,
    token: answer === "opt-in" ? (token ?? null) : null,
    choiceKey: choiceKey ?? drawn,
  }));
}

/** What the user is asked before an invitation raises the lifetime limit, also that of a participation that has ended. */
export async function limit({ text }: Messages["limit"]["fields"]): Promise<LimitQuestion | null> {
  return limitQuestion({ ...(await refuseUnlessJoining()), invitation: text });
}

/** Pin the collector of an invitation. The lifetime limit is raised only if the user has agreed to that. */
export async function invitation({ text, raise = false }: Messages["invitation"]["fields"]): Promise<void> {
  const before = await refuseUnlessJoining();
  const { collector, key, campaign } = readInvitation(text);
  await requirePermission(collector);
  const old = readable(before);
  const nextTurn = nextTime(Date.now() / 1000);
  await withoutNetwork(async () => {
    const next = { ...before, invitation: text };
    if (old?.key !== key || old.campaign !== campaign) await forgetCampaign(next);
    if (raise || !(await limitQuestion(next))) await (await agentOf(next))?.agreeToLimit();
    await changeSettings(() => ({ invitation: text, nextTurn, problem: null }));
  });
  await setAlarm();
  if (old && hostPattern(old.collector) !== hostPattern(collector)) await returnPermission(old.collector);
}

/** Pause or continue. A pause takes effect before the response. */
export async function pause({ paused }: Messages["pause"]["fields"]): Promise<void> {
  await refuseIfLeft();
  const nextTurn = nextTime(Date.now() / 1000);
  await changeSettings(() => (paused ? { paused } : { paused, nextTurn }));
  if (paused) await withoutNetwork(async () => {});
  await setAlarm();
}

/** Delete what is stored, apart from what was spent. */
export async function deleteEverything(): Promise<void> {
  const settings = await readSettings();
  if (settings.consent === "none") return; // there is nothing to delete
  await deleteData(settings);
  const choiceKey = randomBytes(32);
  await changeSettings((current) => (current.choiceKey ? { choiceKey } : null));
}

/** Withdraw uploads, also during a pause, and return their number. */
export async function withdraw(): Promise<number> {
  await refuseIfLeft();
  let withdrawn = 0;
  const work = async () => {
    withdrawn = (await (await agentOf(await readSettings()))?.withdraw()) ?? 0;
  };
  if (!(await withNetwork(work, true))) throw new StateError("collector", "is being contacted", "Try again in a moment");
  return withdrawn;
}

/** Leave for ever. From the first line on, no request is allowed. */
export async function leave(): Promise<void> {
  await changeSettings(() => ({ left: true, token: null, choiceKey: null, nextTurn: null, problem: null }));
  const settings = await readSettings();
  await setAlarm();
  await returnPermissions(settings);
  await finishLeaving(settings);
}

async function decline(): Promise<void> {
  const before = await readSettings();
  await storeRefusal();
  if (before.consent === "none" || before.consent === "declined") return;
  await setAlarm();
  await deleteData(before);
  await returnPermissions(before);
}

async function refuseIfLeft(): Promise<Settings> {
  const settings = await readSettings();
  if (settings.left) throw new StateError("participation", "has ended for ever", "There is nothing more to decide");
  return settings;
}

async function refuseUnlessJoining(): Promise<Settings> {
  const settings = await refuseIfLeft();
  if (settings.consent === "client" || settings.consent === "opt-in") return settings;
  throw new StateError("consent", "is missing", "Decide first whether you want to participate");
}

async function returnPermissions(settings: Settings): Promise<void> {
  const invitation = readable(settings);
  if (invitation) await returnPermission(invitation.collector);
}

/** The stored invitation; null if there is none, or one that is no longer valid. */
function readable(settings: Settings): Invitation | null {
  try {
    return invitationOf(settings);
  } catch {
    return null;
  }
}
