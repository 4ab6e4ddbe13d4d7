import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, describe, it } from "node:test";
import { minuteMs } from "../../shared/durations.ts";
import { isSigned } from "../../shared/triggers/signatures.ts";
import { triggerTypes } from "../../shared/triggers/types.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openTriggerApi, type TriggerApi } from "../helpers/trigger-api.ts";

/** True if the type takes these headers. */
function isTaken(
  name: string,
  { secret, body, headers, now = new Date() }: Documented & { now?: Date },
): boolean {
  const type = triggerTypes("Linear").find((each) => each.name === name) ?? assert.fail();
  const signed = { secret, body: Buffer.from(body), now };
  return type.signatures.some((signature) => isSigned(signature, new Headers(headers), signed));
}

interface Documented {
  secret: string;
  body: string;
  headers: Record<string, string>;
}

/** Changes a character of each header in turn. */
function forgeries({ headers, ...rest }: Documented): Documented[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [...value].map((character, at) => {
      const forged = value.slice(0, at) + (character === "7" ? "8" : "7") + value.slice(at + 1);
      return { ...rest, headers: { ...headers, [name]: forged } };
    }),
  );
}

// From the documentation of the senders.
const github: Documented = {
  secret: "It's a Secret to Everybody",
  body: "Hello, World!",
  headers: {
    "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  },
};
const bitbucket: Documented = {
  secret: "It's a Secret to Everybody",
  body: "Hello World!",
  headers: {
    "X-Hub-Signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9",
  },
};
/** RFC 4231, test case 2: Gitea sends the bare HMAC. */
const gitea: Documented = {
  secret: "Jefe",
  body: "what do ya want for nothing?",
  headers: { "X-Gitea-Signature": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
};
const standard: Documented = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
};
const signedAt = 1614265330_000;

describe("documented signatures", () => {
  for (const [type, documented] of Object.entries({ github, bitbucket, gitea }))
    it(`of ${type} are taken, and no changed one is`, () => {
      assert.ok(isTaken(type, documented));

      for (const forged of forgeries(documented)) assert.ok(!isTaken(type, forged), forged.body);
      assert.ok(!isTaken(type, { ...documented, body: `${documented.body} ` }));
      assert.ok(!isTaken(type, { ...documented, secret: `${documented.secret} ` }));
      assert.ok(!isTaken(type, { ...documented, headers: {} }));
    });

  it("of Gitea are taken from the header that GitHub uses too", () => {
    assert.ok(isTaken("gitea", github));
    assert.ok(!isTaken("bitbucket", github));
    assert.ok(!isTaken("github", gitea));
  });

  it("of Standard Webhooks are taken for 5 minutes, one of several is enough, and no changed one is", () => {
    const at = (ms: number) => ({ ...standard, now: new Date(signedAt + ms) });
    const { headers } = standard;
    const several = { ...headers, "webhook-signature": `v1a,x v1,x ${headers["webhook-signature"]}` };
    assert.ok(isTaken("gitlab", at(0)));
    assert.ok(isTaken("gitlab", at(5 * minuteMs)));
    assert.ok(isTaken("gitlab", at(-5 * minuteMs)));
    assert.ok(isTaken("gitlab", { ...at(0), headers: several }));

    assert.ok(!isTaken("gitlab", at(5 * minuteMs + 1)));
    assert.ok(!isTaken("gitlab", at(-5 * minuteMs - 1)));
    for (const forged of forgeries(standard))
      assert.ok(!isTaken("gitlab", { ...forged, now: new Date(signedAt) }), JSON.stringify(forged.headers));
    assert.ok(!isTaken("gitlab", { ...at(0), body: "{}" }));
    assert.ok(!isTaken("gitlab", { ...at(0), secret: standard.secret.slice("whsec_".length) }));
  });

  it("of Standard Webhooks are taken with a secret that is written after its version", () => {
    assert.ok(isTaken("gitlab", { ...standard, secret: `v1,${standard.secret}`, now: new Date(signedAt) }));
  });

  it("of hmac triggers are taken if one in a list is right, and those of others are no lists", () => {
    const body = "Hello, World!";
    const right = createHmac("sha256", "s3cret").update(body).digest("hex");
    const wrong = right.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const taken = (value: string) =>
      isTaken("hmac", { secret: "s3cret", body, headers: { "X-Signature": value } });

    for (const list of [`${wrong}, ${right}`, `${right},${wrong}`, `${wrong} ${right}`, `${right},${right}`])
      assert.ok(taken(list), list);
    assert.ok(!taken(`${wrong}, ${wrong}`));
    assert.ok(!taken(`${`${wrong},`.repeat(20)}${right}`), "a list has a limit");
    const [header, value] = Object.entries(github.headers)[0] as [string, string];
    assert.ok(!isTaken("github", { ...github, headers: { [header]: `${value},${value}` } }));
  });

  it("of GitLab's secret token are the token", () => {
    const token = { secret: "It's é ✓", body: "{}" };
    const sent = (text: string) => ({ "X-Gitlab-Token": Buffer.from(text).toString("latin1") });
    assert.ok(isTaken("gitlab", { ...token, headers: sent(token.secret) }));

    for (const wrong of ["It's é", "It's é ✓✓", "it's é ✓", "x"])
      assert.ok(!isTaken("gitlab", { ...token, headers: sent(wrong) }), wrong);
    assert.ok(!isTaken("gitlab", { ...token, headers: {} }));
  });
});

describeWorld("messages of Standard Webhooks", openTriggerApi, (api) => {
  before(() => api.world.clock.freeze());

  const secret = `whsec_${Buffer.alloc(16, 7).toString("base64")}`;
  const verification = (of: string) => ({ type: "gitlab", verification: { strategy: "hmac", secret: of } });
  const message = (id: string, more: Record<string, string> = {}) => {
    const time = String(Math.floor(api.world.clock.now().getTime() / 1000));
    const hmac = createHmac("sha256", Buffer.alloc(16, 7)).update(`${id}.${time}.{}`).digest("base64");
    return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${hmac}`, ...more };
  };
  const send = async (trigger: Parameters<TriggerApi["post"]>[0], headers: Record<string, string>) => {
    const { status, headers: given, body } = await api.post(trigger, "{}", headers);
    return { status, id: body.id as string, isReplayed: given.get("idempotent-replayed") === "true" };
  };

  it("are one delivery while their signature may be right, also at once and with an Idempotency-Key", async () => {
    const trigger = await api.newTrigger(verification(secret));
    const sent = message("msg-1", { "Idempotency-Key": "k" });

    const answers = await Promise.all([send(trigger, sent), send(trigger, sent), send(trigger, sent)]);
    api.world.clock.advance(4 * minuteMs);
    const late = await send(trigger, sent);
    const anew = await send(trigger, message("msg-1", { "Idempotency-Key": "another" }));
    const byKey = await send(trigger, message("msg-2", { "Idempotency-Key": "k" }));

    const id = answers[0]?.id;
    assert.equal(answers.filter(({ isReplayed }) => !isReplayed).length, 1);
    for (const answer of [...answers, late, anew, byKey])
      assert.deepEqual([answer.status, answer.id], [201, id]);
    for (const answer of [late, anew, byKey]) assert.ok(answer.isReplayed);
  });

  it("are another delivery after ten minutes, of another trigger, or with an Idempotency-Key alike", async () => {
    const [trigger, other] = [
      await api.newTrigger(verification(secret)),
      await api.newTrigger(verification(secret)),
    ];
    const first = await send(trigger, message("msg-1", { "Idempotency-Key": "msg-2" }));
    const second = await send(trigger, message("msg-2", { "Idempotency-Key": "msg-1" }));
    const elsewhere = await send(other, message("msg-1"));
    api.world.clock.advance(10 * minuteMs);
    const later = await send(trigger, message("msg-1"));

    const all = [first, second, elsewhere, later];
    assert.deepEqual(
      all.map(({ status, isReplayed }) => [status, isReplayed]),
      all.map(() => [201, false]),
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 4);
  });

  it("are not looked up without a right signature, nor in triggers that verify by a token", async () => {
    const trigger = await api.newTrigger(verification(secret));
    await send(trigger, message("msg-1"));
    const wrong = { ...message("msg-1"), "webhook-signature": "v1,x" };
    assert.equal((await api.post(trigger, "{}", wrong)).status, 401);

    const byToken = await api.newTrigger(verification("a plain token"));
    const answers = [];
    for (const _ of [1, 2])
      answers.push(await send(byToken, message("m", { "X-Gitlab-Token": "a plain token" })));
    assert.deepEqual(
      answers.map(({ status, isReplayed }) => [status, isReplayed]),
      [
        [201, false],
        [201, false],
      ],
    );
  });

  it("need a secret of 16 bytes, which a trigger from before may lack", async () => {
    const short = `whsec_${Buffer.alloc(15, 7).toString("base64")}`;
    const refused = /Secret is too short: after whsec_ it must be the Base64 of 16 bytes or more/;
    const made = await api.send("POST", api.triggersAt(), {
      body: { label: "Short", ...verification(short) },
    });
    assert.deepEqual([made.status, refused.test(made.body.message)], [422, true]);
    const trigger = await api.newTrigger(verification(secret));
    const path = `${api.triggersAt()}/${trigger.id}`;
    const changed = await api.send("PATCH", path, {
      body: { verification: { strategy: "hmac", secret: short } },
    });
    assert.deepEqual([changed.status, refused.test(changed.body.message)], [422, true]);

    const [id, time] = ["msg-1", String(signedAt / 1000)];
    const hmac = createHmac("sha256", Buffer.alloc(15, 7)).update(`${id}.${time}.{}`).digest("base64");
    const headers = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${hmac}` };
    assert.ok(isTaken("gitlab", { secret: short, body: "{}", headers, now: new Date(signedAt) }));
  });
});

describeWorld("deliveries of hosts", openTriggerApi, (api) => {
  const secret = "s3cret";
  const body = '{"ref":"refs/heads/main"}';
  const hmac = createHmac("sha256", secret).update(body).digest("hex");
  for (const { type, signature, event, id } of [
    {
      type: "gitlab",
      signature: { "X-Gitlab-Token": secret },
      event: "X-Gitlab-Event",
      id: "X-Gitlab-Event-UUID",
    },
    {
      type: "gitea",
      signature: { "X-Gitea-Signature": hmac },
      event: "X-Gitea-Event",
      id: "X-Gitea-Delivery",
    },
    {
      type: "gitea",
      signature: { "X-Forgejo-Signature": hmac },
      event: "X-Gitea-Event",
      id: "X-Gitea-Delivery",
    },
    {
      type: "bitbucket",
      signature: { "X-Hub-Signature": `sha256=${hmac}` },
      event: "X-Event-Key",
      id: "X-Request-UUID",
    },
  ])
    it(`are verified and have their event and id, but no stored secret: ${type}, ${Object.keys(signature)}`, async () => {
      const trigger = await api.newTrigger({ type, verification: { strategy: "hmac", secret } });
      const headers = { [event]: "push", [id]: "id-1" };

      const unsigned = await api.post(trigger, body, headers);
      const delivery = await api.deliver(trigger, body, { ...headers, ...signature });

      assert.equal(unsigned.status, 401);
      const path = `${api.triggersAt()}/${trigger.id}/deliveries`;
      const found = await api.send("GET", `${path}?event=push&external_id=id-1`);
      assert.deepEqual(
        found.body.items.map((each: { id: string }) => each.id),
        [delivery],
      );
      const stored: { headers: { name: string; value: string | null }[] } = (
        await api.send("GET", `${path}/${delivery}/request`)
      ).body;
      const storedValue = (name: string) => stored.headers.find((each) => each.name === name)?.value;
      assert.deepEqual([storedValue(event), storedValue(id)], ["push", "id-1"]);
      for (const name of Object.keys(signature)) assert.equal(storedValue(name), null, name);
    });
});
