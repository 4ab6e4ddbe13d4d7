import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { findPayload } from "../../shared/triggers/payloads/store.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

const secret = "s3cret";
const verification = { strategy: "hmac", secret };

describeWorldOn(sqlite, "triggers of type hmac", openTriggerApi, (api) => {
  const change = (id: string, body: object) => api.send("PATCH", `${api.triggersAt()}/${id}`, { body });
  const remove = (id: string) => api.send("DELETE", `${api.triggersAt()}/${id}`);

  it("have settings of their signature, with defaults, that a change keeps unless it names them", async () => {
    const { id } = await api.newTrigger({ type: "hmac", verification });
    const settingsAfter = async (body: object) => {
      const { strategy, secret_hint, ...settings } = (await change(id, body)).body.verification;
      assert.deepEqual([strategy, secret_hint], ["hmac", `${"X".repeat(20)}et`]);
      return settings;
    };

    const byDefault = { header: "X-Signature", algorithm: "sha256", encoding: "hex", prefix: "" };
    assert.deepEqual(await settingsAfter({ label: "Signed" }), byDefault);
    const given = { header: "Authorization", algorithm: "sha512", encoding: "base64", prefix: "HMAC " };
    assert.deepEqual(await settingsAfter({ verification: given }), given);
    const another = { ...given, prefix: "" };
    assert.deepEqual(await settingsAfter({ verification: { prefix: "" } }), another);
    assert.deepEqual(await settingsAfter({ verification: {} }), another);
    const token = await api.tokenOf(api.admin, ["read_audit_events"]);
    const entries = (await api.send("GET", "/audit_events", { token })).body.items;
    assert.deepEqual(
      entries
        .flatMap((entry: { changes: { field: string }[] }) => entry.changes)
        .filter(({ field }: { field: string }) => field === "signature")
        .at(-1),
      {
        field: "signature",
        before: "X-Signature, sha256, hex",
        after: "Authorization, sha512, base64, HMAC ",
      },
    );
    await remove(id);
  });

  for (const settings of [
    { header: "X-Hash", algorithm: "sha1", encoding: "hex", prefix: "sha1=" },
    { header: "X-Hash", algorithm: "sha512", encoding: "base64", prefix: "" },
    { header: "Authorization", algorithm: "sha256", encoding: "base64", prefix: "HMAC " },
  ] as const)
    it(`take what is signed by their settings only: ${Object.values(settings)}`, async () => {
      const trigger = await api.newTrigger({ type: "hmac", verification: { ...verification, ...settings } });
      const body = '{"é":1.0}\n';
      const sign = ({
        algorithm,
        encoding,
        prefix,
      }: {
        algorithm: string;
        encoding: "hex" | "base64";
        prefix: string;
      }) => prefix + createHmac(algorithm, secret).update(body).digest(encoding);
      const send = async (value: string, sent = body, header: string = settings.header) =>
        (await api.post(trigger, sent, { [header]: value })).status;

      const delivery = await api.deliver(trigger, body, { [settings.header]: sign(settings) });

      const stored = await api.send(
        "GET",
        `${api.triggersAt()}/${trigger.id}/deliveries/${delivery}/request`,
      );
      const name = settings.header.toLowerCase();
      const header = stored.body.headers.find((each: { name: string }) => each.name.toLowerCase() === name);
      assert.deepEqual([header.value, header.redacted], [null, true]);
      assert.equal(await send(sign(settings), `${body} `), 401);
      assert.equal(await send(sign(settings), body, "X-Other"), 401);
      assert.equal(await send(""), 401);
      assert.equal(await send(sign({ ...settings, prefix: `x${settings.prefix}` })), 401);
      const encoding = settings.encoding === "hex" ? "base64" : "hex";
      assert.equal(await send(sign({ ...settings, encoding })), 401);
      const algorithm = settings.algorithm === "sha1" ? "sha256" : "sha1";
      assert.equal(await send(sign({ ...settings, algorithm })), 401);
      const kept = (await findPayload(api.world.services.db, delivery))?.headers;
      assert.ok(
        kept?.some(([each, value]) => each.toLowerCase() === name && value === null),
        "it is not stored",
      );
      await remove(trigger.id);
    });

  it("refuse every delivery while they have no secret", async () => {
    const trigger = await api.newTrigger({ type: "hmac", verification });
    const { db } = api.world.services;
    const { triggers } = db.tables;
    await db.transaction(async (tx) => {
      await tx.update(triggers).set({ secretSealed: null }).where(eq(triggers.id, trigger.id));
    });

    const empty = createHmac("sha256", "").update("{}").digest("hex");
    assert.equal((await api.post(trigger, "{}", { "X-Signature": empty })).status, 401);
    assert.equal((await api.post(trigger, "{}")).status, 401);
    await remove(trigger.id);
  });

  it("are refused without verification, or with settings that cannot be", async () => {
    const refusals: [message: string, body: object][] = [
      ["Verification can't be left out of hmac triggers", { verification: undefined }],
      ["Verification can't be left out of hmac triggers", { verification: null }],
      ...["", "a b", "é", "X:"].map((header): [string, object] => [
        header === ""
          ? "Verification header can't be blank"
          : "Verification header must be the name of a header, such as X-Signature",
        { verification: { ...verification, header } },
      ]),
      [
        "Verification algorithm must be one of sha256, sha1, sha512",
        { verification: { ...verification, algorithm: "md5" } },
      ],
      [
        "Verification encoding must be one of hex, base64",
        { verification: { ...verification, encoding: "base64url" } },
      ],
      ...[" x", "é", "\n"].map((prefix): [string, object] => [
        "Verification prefix must be ASCII text that does not start with a space",
        { verification: { ...verification, prefix } },
      ]),
    ];
    for (const [message, body] of refusals) {
      const sent = { body: { type: "hmac", label: "Signed", ...body } };
      const { status, body: answer } = await api.send("POST", api.triggersAt(), sent);
      assert.deepEqual(
        [status, answer.message.startsWith(`Validation failed: ${message}`)],
        [422, true],
        answer.message,
      );
    }
    const { id } = await api.newTrigger({ type: "hmac", verification });
    const refused = await change(id, { verification: null });
    assert.equal(refused.status, 422);
    assert.match(refused.body.message, /^Validation failed: Verification can't be left out of hmac triggers/);
    await remove(id);
  });

  it("alone have these settings", async () => {
    const wrong = { ...verification, prefix: "x", header: "X-Hash" };
    const message =
      "Validation failed: Verification header is for hmac triggers only, Verification prefix is for hmac triggers only";
    const created = await api.send("POST", api.triggersAt(), {
      body: { type: "github", label: "Pushes", verification: wrong },
    });
    assert.deepEqual([created.status, created.body.message], [422, message]);
    const github = await api.newTrigger({ type: "github", verification });
    const changed = await change(github.id, { verification: wrong });
    assert.deepEqual([changed.status, changed.body.message], [422, message]);
    await remove(github.id);
  });
});
