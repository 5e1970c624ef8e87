// @vitest-environment happy-dom
// The pages as they are loaded: what each of them asks of the background, and when.
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Message } from "../../src/shared/messages.ts";
import { CLIENT, installChrome, status } from "./fakeChrome.ts";

const NEW = status({ consent: "none", invitation: null, lastReport: null, bundle: null, spent: "0", remaining: "0" });
const JOINED = status({ ...NEW, consent: "client" });
const TOKEN = "0a".repeat(32);
const INVITATION = JSON.stringify({
  schema: "blender-dp/invitation/1",
  collector: "https://collector.example",
  key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  campaign: "00112233445566778899aabbccddeeff",
  epsilon: "4",
  delta: "1/1000000",
  lifetime_epsilon: "48",
  name: "popular-searches",
});

const settle = () => new Promise((resolve) => setTimeout(resolve));

async function load(page: "consent" | "options" | "popup", respond: (message: Message) => unknown) {
  const api = installChrome((message) => {
    const response = respond(message);
    return response instanceof Error
      ? { error: { subject: "collector", problem: "is being contacted", fix: "Try later" } }
      : { value: response };
  });
  document.body.replaceChildren();
  vi.resetModules();
  await import(`../../src/pages/${page}.ts`);
  const sent = () => api.runtime.sendMessage.mock.calls.map(([message]) => message);
  return { api, sent };
}

async function press(label: string): Promise<void> {
  const found = [...document.querySelectorAll("button")].filter((one) => one.textContent?.startsWith(label));
  expect(found, label).toHaveLength(1);
  found[0]?.click();
  await settle();
}

function fill(id: string, value: string): void {
  (document.getElementById(id) as HTMLInputElement).value = value;
}

describe("the first page", () => {
  let page: Awaited<ReturnType<typeof load>>;
  beforeEach(async () => {
    page = await load("consent", (message) =>
      message.type === "consent" ? status({ ...NEW, consent: message.answer }) : CLIENT,
    );
  });

  it("asks in two sentences, and sends nothing", () => {
    expect(document.querySelector(".lead")?.textContent?.match(/[.!?](\s|$)/g)).toHaveLength(2);
    expect(document.documentElement.lang).toBe("en");
    expect(page.sent()).toEqual([]);
  });

  it("sends a yes, and then asks for an invitation", async () => {
    await press("Yes, with noise");
    expect(page.sent()).toEqual([{ type: "consent", answer: "client" }]);
    expect(document.querySelector("h1")?.textContent).toBe("You are participating");
    expect(document.getElementById("link")).not.toBeNull();
  });

  it("sends a no", async () => {
    await press("No");
    expect(page.sent()).toEqual([{ type: "consent", answer: "declined" }]);
    expect(document.body.textContent).toContain("You are not participating");
    expect(document.getElementById("link")).toBeNull();
  });

  it("asks volunteers for a token, and sends only a valid one", async () => {
    await press("Yes, as a volunteer");
    fill("token", "12");
    await press("Volunteer");
    expect(page.sent()).toEqual([]);
    expect(document.querySelector("[role=alert]")?.textContent).toContain("This is not a token");
    fill("token", ` ${TOKEN.toUpperCase()} `);
    await press("Volunteer");
    expect(page.sent()).toEqual([{ type: "consent", answer: "opt-in", token: TOKEN }]);
  });

  it("goes back from the token to the question", async () => {
    await press("Yes, as a volunteer");
    await press("Back");
    expect(document.querySelector("h1")?.textContent).toBe("Do you want to participate?");
  });
});

describe("the options", () => {
  it("show what an invitation says, and accept it only after permission and consent to it", async () => {
    const { api, sent } = await load("options", ({ type }) =>
      type === "limit" ? null : type === "invitation" ? CLIENT : JOINED,
    );
    expect(document.body.textContent).toContain("No collector is set.");
    fill("link", INVITATION);
    await press("Show what it says");
    const facts = document.querySelector(".facts")?.textContent;
    for (const said of [
      "popular-searches",
      "https://collector.example",
      "at most 36% sure",
      "At most 12 rounds, ever.",
      "1 in 1,000,000",
    ]) {
      expect(facts).toContain(said);
    }
    expect(sent().map(({ type }) => type)).toEqual(["status", "limit"]);

    api.permissions.request.mockResolvedValueOnce(false);
    await press("Accept");
    expect(sent().map(({ type }) => type)).toEqual(["status", "limit"]);
    expect(document.querySelector("[role=alert]")?.textContent).toContain("Without your permission");

    await press("Show what it says");
    await press("Accept");
    expect(api.permissions.request).toHaveBeenLastCalledWith({ origins: ["https://collector.example/*"] });
    expect(sent().at(-1)).toEqual({ type: "invitation", text: INVITATION, raise: false });
    expect(document.body.textContent).toContain("Saved. Your answers go to popular-searches.");
  });

  it("explain what is wrong with an invitation, and send nothing", async () => {
    const { sent } = await load("options", () => JOINED);
    fill("link", "https://collector.example/join#nonsense");
    await press("Show what it says");
    const said = () => document.querySelector("[role=alert]")?.textContent;
    expect(said()).toContain("The invitation is not");
    fill("link", INVITATION.replace('"lifetime_epsilon":"48"', '"lifetime_epsilon":"3"'));
    await press("Show what it says");
    expect(said()).toContain("The invitation's lifetime epsilon is less than the ε of one round.");
    fill("link", INVITATION.replace('"epsilon":"4"', '"epsilon":"21"'));
    await press("Show what it says");
    expect(said()).toContain("The invitation's epsilon is more than 20");
    expect(sent()).toHaveLength(1);
  });

  it("ask in plain words before a limit is raised: the old one, the new one, and what was spent", async () => {
    const question = { epsilon: "4", agreed: "48", wanted: "1000", spent: "12" };
    for (const [label, raise] of [
      ["Keep my limit", false],
      ["Raise my limit", true],
    ] as const) {
      const { sent } = await load("options", ({ type }) =>
        type === "limit" ? question : type === "invitation" ? CLIENT : JOINED,
      );
      fill("link", INVITATION);
      await press("Show what it says");
      const said = document.querySelector("[role=note]")?.textContent;
      for (const words of [
        "ε = 48 (12 rounds). You have spent 12 of it.",
        "asks for ε = 1,000 (250 rounds)",
        "almost certain",
      ]) {
        expect(said).toContain(words);
      }
      expect([...document.querySelectorAll("button")].map((one) => one.textContent)).not.toContain("Accept");
      await press(label);
      expect(sent().slice(2)).toEqual([{ type: "invitation", text: INVITATION, raise }]);
    }
  });

  it("open a file that is dropped, and refuse a large one", async () => {
    await load("options", ({ type }) => (type === "limit" ? null : JOINED));
    const zone = document.querySelector(".drop") as HTMLElement;
    const drop = async (content: string) => {
      const transfer = { files: [new File([content], "invitation.json")], getData: () => "" };
      zone.dispatchEvent(Object.assign(new Event("drop", { cancelable: true }), { dataTransfer: transfer }));
      await settle();
    };
    await drop(INVITATION);
    expect(document.querySelector(".facts")).not.toBeNull();
    await drop(" ".repeat(70_000));
    expect(document.querySelector("[role=alert]")?.textContent).toContain("too large");
    expect(document.querySelector(".facts")).toBeNull();
  });

  it("lead to the question first", async () => {
    const { api } = await load("options", () => NEW);
    expect(document.getElementById("link")).toBeNull();
    await press("Answer");
    expect(api.tabs.create).toHaveBeenCalledWith({ url: "chrome-extension://id/consent.html" });
  });

  it("offer no form to someone who has left", async () => {
    await load("options", () => status({ left: true }));
    expect(document.getElementById("link")).toBeNull();
  });
});

describe("the popup", () => {
  it("shows a refusal of the background above what was shown before", async () => {
    await load("popup", ({ type }) => (type === "status" ? CLIENT : new Error()));
    await press("Pause");
    expect(document.querySelector("[role=alert] p")?.textContent).toBe("The collector is being contacted. Try later.");
    expect(document.body.textContent).toContain("Enough for 11 more rounds.");
    await press("Pause");
    expect(document.querySelectorAll("[role=alert]")).toHaveLength(1);
  });

  it.each([
    [0, "No record could be withdrawn"],
    [1, "1 record was withdrawn."],
  ])("lets volunteers withdraw %d records in the question about leaving", async (withdrawn, said) => {
    const volunteer = (count: number) =>
      status({ consent: "opt-in", bundle: null, uploads: { rounds: 2, withdrawn: count } });
    let isBusy = true;
    const { sent } = await load("popup", ({ type }) => {
      if (type !== "withdraw") return { ...volunteer(1), left: type === "leave" };
      return isBusy ? new Error() : { withdrawn, status: volunteer(1 + withdrawn) };
    });
    const shown = () => document.querySelector("dialog [role=status]")?.textContent;
    await press("Leave permanently");
    await press("Withdraw my records first");
    expect(shown()).toContain("is being contacted");
    isBusy = false;
    await press("Withdraw my records first");
    expect(shown()).toContain(said);
    expect(document.querySelector("dialog .stack button")).toBeNull();
    document.querySelector<HTMLElement>("dialog .danger")?.click();
    await settle();
    expect(document.body.textContent).toContain("You have left permanently.");
    expect(sent().map(({ type }) => type)).toEqual(["status", "withdraw", "withdraw", "leave"]);
  });

  it("asks before it deletes or leaves, and says what cannot be undone", async () => {
    const { sent } = await load("popup", ({ type }) => (type === "leave" ? status({ left: true }) : CLIENT));
    await press("Leave permanently");
    expect(document.querySelector("dialog")?.textContent).toContain("You cannot undo this");
    await press("Cancel");
    expect(sent().map(({ type }) => type)).toEqual(["status", "results"]);
    await press("Leave permanently");
    document.querySelector<HTMLElement>("dialog .danger")?.click();
    await settle();
    expect(sent().map(({ type }) => type)).toEqual(["status", "results", "leave", "results"]);
    expect(document.body.textContent).toContain("You have left permanently.");
    expect(document.querySelector("dialog")).toBeNull();
  });
});
