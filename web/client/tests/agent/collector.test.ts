/** What the client sends and accepts over HTTP, whatever the collector, or an impostor, responds. */
import { expect, test, vi } from "vitest";
import { CollectorClient } from "../../src/agent/collector.ts";
import type { ResponseError } from "../../src/index.ts";
import { fake, withDevices } from "./device.ts";

withDevices();

const caught = (act: Promise<unknown>): Promise<ResponseError> =>
  act.then(
    () => null as never,
    (error) => error,
  );
const problem = (status: number, body: unknown, headers = {}) => {
  fake.instead = () => ({ status, headers, body: JSON.stringify(body) });
  return caught(new CollectorClient(fake.url).get("/"));
};

test("requests have no cookies, no referrer and no cache, and follow no redirect", async () => {
  const fetched = vi.spyOn(globalThis, "fetch");
  const client = new CollectorClient(fake.url);
  await client.get("/v1/rounds/current?campaign=c");
  await client.document("/v1/bundles/x");
  await client.post("/v1/rounds/1/reports", "{}");
  const options = { cache: "no-store", credentials: "omit", mode: "cors", redirect: "error", referrerPolicy: "no-referrer" };
  for (const [, given] of fetched.mock.calls) expect(given).toMatchObject(options);
  expect(fetched.mock.calls.map(([, given]) => given?.headers)).toEqual([
    undefined,
    undefined,
    { "Content-Type": "application/json" },
  ]);
  fetched.mockRestore();
});

test("an extension's requests withhold its id", async () => {
  for (const [origin, mode] of [
    ["moz-extension://0", "same-origin"],
    ["chrome-extension://a", "same-origin"],
    ["https://extension.example", "cors"],
  ]) {
    vi.resetModules();
    vi.stubGlobal("location", { origin });
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("{}"));
    const { CollectorClient: Client } = await import("../../src/agent/collector.ts");
    await new Client("https://collector.example").get("/");
    expect(fetched.mock.calls[0]?.[1]?.mode).toBe(mode);
    fetched.mockRestore();
  }
});

test.each([
  [409, { detail: "the round is open." }, "collector: responds with 409: the round is open. Check the current state."],
  [403, { detail: "no" }, "collector: responds with 403: no. Use another token."],
  [422, { detail: 7 }, "collector: responds with 422: Unprocessable Entity. Fix the request."],
  [500, [], "collector: responds with 500: Internal Server Error. The collector's operator must look into it."],
])("a problem is shown with its fix: %i %j", async (status, body, message) => {
  expect(await problem(status, body)).toMatchObject({ name: "ResponseError", status, message });
});

test("kinds of problems", async () => {
  const kinds = { 401: "forbidden", 403: "forbidden", 404: "missing", 409: "conflict", 500: "conflict" };
  for (const [status, kind] of Object.entries(kinds)) expect(await problem(Number(status), {})).toMatchObject({ kind });
});

test.each([
  ["7", 7],
  ["", 1],
  ["soon", 1],
  ["-3", 1],
  ["9".repeat(9), 1],
])("a busy collector says when to try again: %j", async (header, seconds) => {
  const headers = header ? { "Retry-After": header } : {};
  for (const status of [429, 503])
    expect(await problem(status, {}, headers)).toMatchObject({ name: "BusyError", status, seconds });
});

test("a remote machine's text is shown in short and as plain text", async () => {
  const { problem: text } = await problem(500, { detail: `\x1b]0;owned\x07\u202e\r\n${"A".repeat(100_000)}` });
  expect(text).toMatch(/^responds with 500: [ -~]{3,}…$/);
  expect(text.length).toBe(400);
});

test("a request that takes too long is given up, and nothing of it arrives later", async () => {
  fake.instead = () => new Promise(() => {});
  const error = await caught(new CollectorClient(fake.url, 0.05).get("/"));
  expect(error).toMatchObject({ name: "NoResponseError", problem: "does not respond (too slow)", kind: "missing" });
});

test("only a document may be long, and no problem", async () => {
  const body = `[${"[],".repeat(100_000)}[]]`;
  let status = 200;
  fake.instead = () => ({ status, body });
  const client = new CollectorClient(fake.url);
  expect((await client.document("/")).length).toBe(body.length);
  await expect(client.get("/")).rejects.toThrow("more than 256000 bytes");
  await expect(client.post("/", "{}")).rejects.toThrow("more than 256000 bytes");
  status = 500;
  await expect(client.document("/")).rejects.toThrow("more than 256000 bytes");
});

test.each([
  [8_000_000, 8_000_000],
  [8_000_001, "more than 8000000 bytes"],
])("a document of %i bytes", async (size, outcome) => {
  fake.instead = () => ({ body: " ".repeat(size) });
  const document = new CollectorClient(fake.url).document("/");
  if (typeof outcome === "number") expect((await document).length).toBe(outcome);
  else await expect(document).rejects.toThrow(outcome);
});
