// @vitest-environment happy-dom
// What the popup shows in each state, and what its buttons do.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Actions, popupView } from "../../src/pages/popupView.ts";
import type { Status } from "../../src/shared/messages.ts";
import { CLIENT, installChrome, status } from "./fakeChrome.ts";

const ACTIONS = {
  answer: vi.fn(),
  settings: vi.fn(),
  pause: vi.fn(),
  withdraw: vi.fn(),
  deleteEverything: vi.fn(),
  leave: vi.fn(),
};

function shown(changes: Partial<Status>, actions: Actions = ACTIONS): HTMLElement {
  const main = document.createElement("main");
  main.append(...popupView(status(changes), actions));
  document.body.replaceChildren(main);
  return main;
}

function press(main: HTMLElement, label: string): void {
  const button = [...main.querySelectorAll("button")].find((one) => one.textContent === label);
  if (!button) throw new Error(`no button ${label}`);
  button.click();
}

function buttons(main: HTMLElement): string[] {
  return [...main.querySelectorAll("footer button")].map((one) => one.textContent ?? "");
}

beforeEach(() => {
  installChrome();
  for (const action of Object.values(ACTIONS)) action.mockReset();
});

describe("a client", () => {
  it("sees the group, the campaign, what is stored and when the next round is", () => {
    const page = shown({});
    expect(page.querySelector(".badge")?.textContent).toBe("Noise group");
    expect(page.textContent).toContain("only answers with noise are sent to popular-searches");
    expect(page.textContent).toContain("12 searches are stored on this device.");
    expect(page.textContent).toMatch(/Next check: \w+/);
  });

  it("sees what is spent and what remains, also in rounds", () => {
    const page = shown({ spent: "4", remaining: "44" });
    expect(page.textContent).toContain("Enough for 11 more rounds.");
    expect(page.textContent).toContain("ε: 4 of 48 spent, 44 left");
    expect(page.querySelector("[role=meter]")?.getAttribute("aria-valuenow")).toBe("8");
    expect(Number(page.querySelector("rect")?.getAttribute("width"))).toBeCloseTo(100 / 12);
  });

  it("is not promised a round that the budget does not pay for", () => {
    expect(shown({ spent: "136/3", remaining: "8/3" }).textContent).toContain("It is used up: nothing more is sent.");
    expect(shown({ spent: "44", remaining: "4" }).textContent).toContain("Enough for 1 more round.");
  });

  it("sees the exact report with the queries of its cells", () => {
    const page = shown({});
    expect(page.querySelector("pre")?.textContent).toBe(CLIENT.lastReport?.body);
    const cells = [...page.querySelectorAll(".cells li")].map((cell) => cell.textContent);
    expect(cells).toEqual(["weatherhttps://weather.example/", "any search that is not on the list"]);
    expect(page.textContent).toContain("It names 2 entries");
    expect(page.textContent).toContain("Round 3, received");
  });

  it("sees what it can reveal, computed from ε and from what was spent", () => {
    expect(shown({}).textContent).toContain("1% sure of a guess about your search can be at most 36% sure after seeing it");
    expect(shown({}).textContent).not.toContain("In the worst case");
    expect(shown({ spent: "12" }).textContent).toContain("can be at most 99.94% sure after seeing all of it.");
    const weaker = { ...CLIENT, invitation: CLIENT.invitation && { ...CLIENT.invitation, epsilon: "1" } };
    expect(shown(weaker).textContent).toContain("at most 3% sure after seeing it");
  });

  it("sees cells as numbers when the list is gone, and that an unconfirmed report is sent again", () => {
    const page = shown({ lastReport: CLIENT.lastReport && { ...CLIENT.lastReport, cells: null, arrived: false } });
    expect(page.textContent).toContain("It names 2 entries of the round's list, which is not stored any more.");
    expect(page.textContent).toContain("the same bytes will be sent again");
  });

  it("sees the first cells of a long report, and how many more there are", () => {
    const cells = Array.from({ length: 25 }, (_, index) => ({ query: `query ${index}`, url: null }));
    const page = shown({ lastReport: CLIENT.lastReport && { ...CLIENT.lastReport, cells } });
    expect(page.querySelectorAll(".cells li").length).toBe(21);
    expect(page.querySelector(".cells")?.textContent).toContain("and 5 more");
  });

  it("has not sent anything at first", () => {
    expect(shown({ lastReport: null, spent: "0", remaining: "48" }).textContent).toContain("Nothing has been sent yet.");
  });

  it("can pause, delete everything, leave, and open the settings", () => {
    const page = shown({});
    for (const label of buttons(page)) press(page, label);
    expect(buttons(page)).toEqual(["Pause", "Delete everything", "Leave permanently", "Settings"]);
    expect(ACTIONS.pause).toHaveBeenCalledWith(true);
    for (const name of ["deleteEverything", "leave", "settings"] as const) expect(ACTIONS[name]).toHaveBeenCalledOnce();
  });
});

describe("others", () => {
  it("are asked first", () => {
    const page = shown({ consent: "none", invitation: null, lastReport: null, bundle: null });
    expect(page.textContent).toContain("Nothing is stored or sent until you answer");
    expect(buttons(page)).toEqual(["Settings"]);
    press(page, "Answer");
    expect(ACTIONS.answer).toHaveBeenCalledOnce();
  });

  it("have declined, and can change their mind", () => {
    const page = shown({ consent: "declined" });
    expect(page.querySelectorAll(".card")).toHaveLength(0);
    press(page, "Change my answer");
    expect(ACTIONS.answer).toHaveBeenCalledOnce();
  });

  it("have no invitation yet", () => {
    const page = shown({ invitation: null, lastReport: null });
    press(page, "Open an invitation");
    expect(ACTIONS.settings).toHaveBeenCalledOnce();
  });

  it("have paused, and can resume", () => {
    const page = shown({ paused: true });
    expect(page.querySelector(".badge")?.textContent).toBe("Paused");
    expect(page.textContent).not.toContain("Next check");
    press(page, "Resume");
    expect(ACTIONS.pause).toHaveBeenCalledWith(false);
  });

  it("have left, and still see what was spent", () => {
    const page = shown({ left: true });
    expect(page.textContent).toContain("You have left permanently.");
    expect(page.textContent).toContain("ε: 4 of 48 spent");
    expect(page.textContent).not.toContain("more rounds");
    expect(buttons(page)).toEqual(["Delete everything", "Settings"]);
    expect(page.querySelector(".about button")).toBeNull();
  });

  it("volunteer, learn who sees their records, and can withdraw them", () => {
    const page = shown({ consent: "opt-in", spent: "12", lastReport: null, uploads: { rounds: 3, withdrawn: 1 } });
    expect(page.querySelector(".badge")?.textContent).toBe("Volunteer group");
    expect(page.textContent).toContain("Sent in 3 rounds. 1 was withdrawn.");
    expect(page.textContent).toContain("can be at most 36% sure afterwards, except with a probability of 1 in 1,000,000.");
    expect(page.textContent).not.toContain("In the worst case");
    press(page, "Withdraw");
    expect(ACTIONS.withdraw).toHaveBeenCalledOnce();
  });

  it("see a problem in words, as text", () => {
    const page = shown({ problem: "budget: of this device is <b>used</b> up. Stop." });
    expect(page.querySelector("[role=alert] p")?.textContent).toBe("The budget of this device is <b>used</b> up. Stop.");
    expect(page.querySelector("[role=alert] b")).toBeNull();
  });

  it.each([
    [
      "collector: does not respond (timeout). Check the URL, or try again.",
      "The collector cannot be reached at the moment.",
    ],
    ["signed document: is not signed by the pinned key. Do not use it.", "something that cannot be trusted"],
    ["/v1/bundles/ab: does not match the digest in its address. It is not used.", "something that cannot be trusted"],
  ])("see what %s means for them, and the details", (problem, meaning) => {
    const alert = shown({ problem }).querySelector("[role=alert]");
    expect(alert?.textContent).toContain(meaning);
    expect(alert?.textContent).toContain(problem);
  });
});
