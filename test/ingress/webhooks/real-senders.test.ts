import assert from "node:assert/strict";
import { before, beforeEach, describe, it } from "node:test";
import { LINEAR_WEBHOOK_SIGNATURE_HEADER, LinearWebhookClient } from "@linear/sdk/webhooks";
import { sign, verify } from "@octokit/webhooks-methods";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { post, untilNotBusy } from "../../helpers/http.ts";
import { openAcme, type TestOrganization } from "../../helpers/organization.ts";

const secret = "It's a Secret to Everybody ✓";
const linear = new LinearWebhookClient(secret);
const hub = "X-Hub-Signature-256";
const linearHeader = "Linear-Signature";

/** Verifies with the issue tracker's library. */
function isLinearSigned(sent: Buffer, signature: string): boolean {
  try {
    return linear.verify(sent, signature);
  } catch {
    return false;
  }
}

/** Signs here: the issue tracker's library only verifies. */
async function linearSign(sent: Buffer): Promise<string> {
  const signature = (await sign(secret, sent.toString())).slice("sha256=".length);
  assert.ok(isLinearSigned(sent, signature));
  return signature;
}

const settings = { DELIVERY_REFUSALS_PER_MINUTE: "1000000" };

describeWorldOn(sqlite, "signatures of third-party libraries", withSettings(openAcme, settings), (world) => {
  let github: Awaited<ReturnType<TestOrganization["trigger"]>>;
  let tracker: typeof github;
  let body: Buffer;

  before(async () => {
    github = await world.acme.trigger({ type: "github", secret });
    tracker = await world.acme.trigger({ type: "linear", secret });
  });
  beforeEach(() => {
    // The issue tracker's library refuses signatures older than a minute.
    body = Buffer.from(`{"é": [1, 2.0], "webhookTimestamp":${Date.now()}}\n`);
  });

  const send = async (to: typeof github, sent: Buffer, headers: Record<string, string>) =>
    (await untilNotBusy(() => post(world.url + to.path, Buffer.from(sent), headers))).status;
  /** Flips the lowest or highest bit of each byte. */
  const changesOf = (bytes: Buffer) =>
    [...bytes.keys()].flatMap((at) =>
      [1, 128].map((bit) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ bit;
        return changed;
      }),
    );
  const statuses = async (sending: Promise<number>[]) => [...new Set(await Promise.all(sending))];

  describe("of GitHub", () => {
    it("are accepted", async () => {
      const signature = await sign(secret, body.toString());
      assert.ok(await verify(secret, body.toString(), signature));
      assert.equal(await send(github, body, { [hub]: signature }), 201);
    });
  });

  describe("of the issue tracker", () => {
    it("are accepted", async () => {
      assert.equal(LINEAR_WEBHOOK_SIGNATURE_HEADER, linearHeader.toLowerCase());
      assert.equal(await send(tracker, body, { [linearHeader]: await linearSign(body) }), 201);
    });

    it("are refused with any byte of the body changed, left out or added", async () => {
      const signature = await linearSign(body);
      const cut = [body.subarray(1), body.subarray(0, -1), Buffer.concat([body, Buffer.from(" ")])];
      const all = [...changesOf(body), ...cut];

      const headers = { [linearHeader]: signature };
      assert.deepEqual(await statuses(all.map((changed) => send(tracker, changed, headers))), [401]);
      for (const changed of all) assert.ok(!isLinearSigned(changed, signature));
    });

    it("are refused with any character of the signature changed, left out or added", async () => {
      const changed = changesOfText(await linearSign(body));

      const sending = changed.map((each) => send(tracker, body, { [linearHeader]: each }));
      assert.deepEqual(await statuses(sending), [401]);
      for (const each of changed) assert.ok(!isLinearSigned(body, each), each);
    });
  });

  /** Changes each character, and cuts and extends both ends. */
  function changesOfText(text: string): string[] {
    const other = (character: string) => (character === "0" ? "1" : "0");
    const changed = [...text].map(
      (character, at) => text.slice(0, at) + other(character) + text.slice(at + 1),
    );
    return [...changed, text.slice(1), text.slice(0, -1), `0${text}`, `${text}0`, `${text},${text}`, ""];
  }
});
