import assert from "node:assert/strict";
import { before, it } from "node:test";
import { requestBytes } from "../../scripts/bench/load/request.ts";
import { visitor } from "../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { eventually, post, request } from "../helpers/http.ts";
import { startPages } from "../helpers/pages.ts";
import { type RawRequest, sendRaw } from "../helpers/sockets.ts";

const kilobyte = 1024;
/** A sixteenth of the defaults, as are the attacks. */
const settings = {
  TRUSTED_PROXIES: "127.0.0.1",
  MAX_BODY_BYTES_IN_FLIGHT: String(16 * 1024 * kilobyte),
  MAX_PAYLOAD_BYTES: String(320 * kilobyte),
};
const from = (address: string) => ({ "X-Forwarded-For": address });
const attacker = from("203.0.113.7");
const victim = from("198.51.100.20");
const json = { "Content-Type": "application/json" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };

describeWorldOn(sqlite, "stalled bodies", withSettings(startPages, settings), (pages) => {
  let known: string;
  let other: string;

  before(async () => {
    known = (await pages.acme.trigger()).path;
    other = (await pages.acme.trigger({ label: "Other" })).path;
  });

  /** Sends all of a body but its last byte. */
  const stall = (path: string, bytes: number, headers: Record<string, string>) => {
    const request = { method: "POST", url: pages.url + path, headers, body: "x".repeat(bytes) } as const;
    return sendRaw(pages.url, requestBytes(request).subarray(0, -1));
  };
  const stallMany = (count: number, start: (index: number) => Promise<RawRequest>) =>
    Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  const statusesOf = async (uploads: RawRequest[]) => Promise.all(uploads.map(({ status }) => status));
  const leave = (uploads: RawRequest[]) => {
    for (const { socket } of uploads) socket.destroy();
  };
  const large = JSON.stringify("x".repeat(300 * kilobyte));
  const count = (statuses: number[], ...wanted: number[]) =>
    statuses.filter((status) => wanted.includes(status)).length;

  it("of one URL leave room for other URLs, forms and the REST API, and end by themselves", async () => {
    const stalled = await stallMany(51, (index) =>
      stall(known, 320 * kilobyte, { ...json, ...from(`203.0.${index}.7`) }),
    );
    await eventually("refusals", async () => stalled.some(({ socket }) => socket.bytesRead > 0));

    for (let round = 0; round < 5; round++) {
      assert.equal((await post(pages.url + other, large, victim)).status, 201);
      assert.equal((await post(pages.url + known, "{}", victim)).status, 201);
    }
    const ada = visitor(pages.url);
    assert.equal((await ada.signIn(pages.ada.email)).status, 303);
    const { headers } = await request(`${pages.url}/v2/user`, { headers: victim });
    assert.ok(headers.get("x-request-id"));

    const statuses = await statusesOf(stalled);
    assert.equal(count(statuses, 408, 429), 51, String(statuses));
    assert.ok(count(statuses, 429) >= 20, "over the share of the trigger");
    assert.equal((await post(pages.url + known, large, victim)).status, 201);
  });

  it("of forms from one address leave room for those of others", async () => {
    const stalled = await stallMany(270, () =>
      stall("/oauth/token", 60 * kilobyte, { ...form, ...attacker }),
    );
    await eventually("refusals", async () => stalled.some(({ socket }) => socket.bytesRead > 0));

    const ada = visitor(pages.url);
    const answer = await ada.signIn(pages.ada.email);
    assert.equal(answer.status, 303);
    const padding = "x".repeat(50 * kilobyte);
    const token = await request(`${pages.url}/oauth/token`, {
      method: "POST",
      headers: victim,
      body: new URLSearchParams({ client_id: "cli", padding }),
    });
    assert.deepEqual(token.body.error, "invalid_request");

    leave(stalled);
    await eventually("the connections close", async () => pages.logged.some((line) => line.includes("499")));
  });

  it("lose before an upload of the same address that makes progress", async () => {
    const stalled = await stallMany(51, () => stall(known, 320 * kilobyte, { ...json, ...attacker }));
    await eventually("refusals", async () => stalled.some(({ socket }) => socket.bytesRead > 0));

    await eventually("room", async () => (await post(pages.url + other, large, attacker)).status === 201);

    leave(stalled);
  });

  it("of the REST API are refused with Retry-After over the share of a network", async () => {
    const token = await pages.acme.token("write_pipelines");
    const headers = { ...json, ...attacker, Authorization: `Bearer ${token}` };
    const path = "/v2/organizations/acme/pipelines";
    const stalled = await stallMany(10, () => stall(path, 400 * kilobyte, headers));

    // The first ones stay below half of the budget.
    const refused = await Promise.race(stalled.map(({ status }) => status));
    assert.equal(refused, 429);
    leave(stalled);
    const body = JSON.stringify({ name: "Second" });
    const answer = await post(pages.url + path, body, { ...victim, Authorization: `Bearer ${token}` });
    assert.equal(answer.status, 422);
  });
});
