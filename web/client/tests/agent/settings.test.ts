/** What a user pins: mistakes are reported at once, and must not look like a dishonest collector. */
import { expect, test } from "vitest";
import { type AgentOptions, readInvitation } from "../../src/index.ts";
import { agent, fake, withDevices } from "./device.ts";

withDevices();

const KEY = Buffer.alloc(32).toString("base64");
const WRONG: { [Field in keyof AgentOptions]?: unknown[] } = {
  key: ["", "x", KEY.slice(0, -4), `${KEY}=`, KEY + KEY, "ä".repeat(44), ` ${KEY}`, `${KEY}\n`, null, undefined, 7],
  campaign: ["", "searches", "C".repeat(32), "c".repeat(31), `${"c".repeat(32)}\n`, null, 7],
  epsilon: [0, -1, "nan", Number.NaN, null, "x", true, "", 65, "1e400000000", "1/0", [4], {}],
  delta: [0, 1, -1, "nan", "x", true, 1.5],
  lifetimeEpsilon: [-1, "nan", null, "x", true, undefined, Number.POSITIVE_INFINITY],
  leastSeconds: [-1, Number.NaN, "x", null, Number.POSITIVE_INFINITY],
  collector: [
    "",
    "collector",
    "ftp://127.0.0.1",
    "http://[x",
    "http://",
    "https://a b",
    "https://a:99999",
    "https://joe:secret@a.example",
    "https://a.example/?b",
    "https://a.example/?",
    "https://a.example/#",
    "https://a.example/#b",
    "https://a.example/ä",
    "http://a.example",
    "http://10.0.0.1:8000",
    "http://127.0.0.2",
    "http://[::1]:8000",
    "http://localhost.example",
    "http://127.0.0.1@a.example",
    "http://127.0.0.1.example",
    "javascript:alert(1)",
    null,
    7,
  ],
};
const CASES = Object.entries(WRONG).flatMap(([field, wrongs]) => wrongs.map((wrong) => [field, wrong] as const));

test.each(CASES)("%s %j is refused", async (field, wrong) => {
  const opened = agent({ [field]: wrong } as Partial<AgentOptions>);
  await expect(opened).rejects.toMatchObject({ name: "ParameterError", subject: field });
  expect(await indexedDB.databases()).toEqual([]);
  expect(fake.requests).toEqual([]);
});

test.each(["https://a.example", "HTTPS://A.example/", "https://a.example/dp/", "http://localhost:1", "http://127.0.0.1:8"])(
  "%s is accepted",
  async (collector) => {
    await agent({ collector });
  },
);

const INVITATION = {
  schema: "blender-dp/invitation/1",
  collector: "https://collector.example",
  key: KEY,
  campaign: "c".repeat(32),
  epsilon: "4",
  delta: "1/1000000",
  lifetime_epsilon: "48",
  name: "searches",
};
const linkOf = (fields: object, host = "https://collector.example") =>
  `${host}/join#${Buffer.from(JSON.stringify(fields)).toString("base64url")}`;

test("an invitation is a file or a link", () => {
  const { lifetime_epsilon: lifetimeEpsilon, schema: _, ...same } = INVITATION;
  for (const text of [JSON.stringify(INVITATION), linkOf(INVITATION), ` ${linkOf(INVITATION)}\n`]) {
    expect(readInvitation(text)).toEqual({ ...same, lifetimeEpsilon });
  }
});

test("an agent opened with an invitation has one account, whatever the campaign is called", async () => {
  for (const name of ["one", "two"]) {
    await agent(readInvitation(linkOf({ ...INVITATION, name })));
  }
  expect((await indexedDB.databases()).map((one) => one.name)).toEqual(["blender-dp"]);
});

test.each([
  "",
  "{}",
  "null",
  "https://collector.example/join#",
  "https://collector.example/join#%%%",
  linkOf(INVITATION, "https://elsewhere.example"),
  linkOf(INVITATION).slice(0, -9),
  ...Object.keys(INVITATION).map((field) => JSON.stringify({ ...INVITATION, [field]: undefined })),
  ...Object.keys(INVITATION).map((field) => JSON.stringify({ ...INVITATION, [field]: 7 })),
  ...[
    { schema: "blender-dp/invitation/2" },
    { collector: "http://collector.example" },
    { collector: "javascript:alert(1)" },
    { collector: "https://collector.example/?" },
    { collector: "https://collector.example/#" },
    { collector: "http://127.0.0.2" },
    { collector: "http://[::1]" },
    { unknown: "field" },
    { lifetime_epsilon: "3" },
    { epsilon: "4.0" },
    { epsilon: "65" },
    { delta: "0" },
    { delta: "1e-6" },
    { lifetime_epsilon: "-1" },
    { name: "<b>" },
    { name: "x".repeat(64) },
  ].map((wrong) => JSON.stringify({ ...INVITATION, ...wrong })),
])("%.60s is not an invitation", (text) => {
  expect(() => readInvitation(text)).toThrow(/^invitation/);
});
