import assert from "node:assert/strict";
import { before, it } from "node:test";
import fc from "fast-check";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { repeat } from "../../helpers/run-mode.ts";
import { freshDelivery } from "./every-operation.ts";

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** JSON text: some cannot be made from values. */
const leaf = fc.constantFrom(
  ...["null", "true", "0", "-1", "1.5", "1e308", "1e400", "[]", "{}"],
  ...[
    '""',
    '" "',
    '"a"',
    '"default"',
    '"main"',
    '"prefer-different"',
    '"webhook"',
    '"github"',
    '"hmac"',
    '"webhook.payload.a == 1"',
    '"LINUX_AMD64_4X16"',
    '"WINDOWS_AMD64_2X8"',
  ],
  ...['"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ufeff"', '"🚦"', '"__proto__"', '"constructor"'],
  `"${"x".repeat(300_000)}"`,
  `"${"é".repeat(2001)}"`,
  deep("[", "]", 100_000),
  `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"isAdmin":true}}',
  '{"length":3,"0":"a"}',
  '{"then":1}',
);
const name = fc.constantFrom(
  ...["name", "key", "description", "retry_agent_affinity", "hostedAgents", "instanceShape", "agentImageRef"],
  ...["dispatch_paused_note", "note", "default_queue_id", "emoji", "color", "slug", "cluster_id"],
  ...["type", "enabled", "build", "message", "commit", "branch", "environment", "filter", "expression"],
  ...["verification", "strategy", "secret", "delivery_id"],
  ...["status", "event", "external_id", "received_from", "received_to"],
  ...["default_branch", "steps", "command", "label", "agents", "queue", "response", "id"],
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "toJSON",
    "hasOwnProperty",
    "",
    "\u0000",
    "\ud800",
  ],
);
const { value, object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, { weight: 4, arbitrary: leaf }, tie("object"), tie("list")),
  object: fc
    .array(fc.tuple(name, tie("value")), { maxLength: 6 })
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`),
  list: fc.array(tie("value"), { maxLength: 3 }).map((values) => `[${values.join(",")}]`),
}));
/** Puts an odd value in a known member. */
const membersOf = (...names: string[]) =>
  fc
    .dictionary(fc.constantFrom(...names), value, { maxKeys: 2 })
    .map((members) => `{${Object.entries(members).map(([key, text]) => `${JSON.stringify(key)}:${text}`)}}`);
const trigger = fc
  .record(
    {
      label: value,
      enabled: value,
      build: fc.oneof(membersOf("message", "commit", "branch", "environment"), value),
      filter: membersOf("expression"),
      verification: membersOf("strategy", "secret"),
      delivery_id: value,
    },
    { requiredKeys: [] },
  )
  .map((members) => `{${Object.entries(members).map(([key, text]) => `"${key}":${text}`)}}`);
const body = fc.oneof(
  { weight: 6, arbitrary: object },
  { weight: 3, arbitrary: trigger },
  leaf,
  fc.json(),
  fc.string(),
);

const settings = {
  ...{ PIPELINES_PER_ORGANIZATION: "100000", CLUSTERS_PER_ORGANIZATION: "100000" },
  ...{ QUEUES_PER_CLUSTER: "100000", REGISTRATION_TOKENS_PER_CLUSTER: "100000" },
};

describeWorldOn(sqlite, "any body of any write", withSettings(openApi, settings), (api) => {
  let writes: [method: string, path: string][];
  let triggers: string;

  before(async () => {
    const { cluster } = api.acme;
    const hosted = await api.newQueue({ hostedAgents: { instanceShape: "LINUX_AMD64_2X4" } });
    const queue = `${api.queues}/${(await api.newQueue()).id}`;
    await api.features({ custom_agent_images: true, webhook_filtering: true });
    const { slug, trigger, delivery } = await freshDelivery(api);
    triggers = `/pipelines/${slug}/triggers`;
    writes = [
      ["POST", "/clusters"],
      ["PATCH", `/clusters/${cluster.id}`],
      ["POST", api.queues],
      ["PUT", queue],
      ["PATCH", `${api.queues}/${hosted.id}`],
      ["POST", `${queue}/pause_dispatch`],
      ["POST", `${queue}/resume_dispatch`],
      ["POST", "/pipelines"],
      ["PATCH", `/pipelines/${(await api.newPipeline()).slug}`],
      ["POST", triggers],
      ["PATCH", `${triggers}/${trigger}`],
      ["POST", `${triggers}/${trigger}/filter/test`],
      ["POST", `${triggers}/${trigger}/deliveries/${delivery}/rebuild`],
      ["POST", `${triggers}/${trigger}/rebuilds`],
    ];
  });

  it("is accepted or refused with a message, and never causes a 5xx", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(writes.length - 1), body, async (at, raw) => {
        const [method, path] = writes[at] as [string, string];
        const headers = { "Content-Type": "application/json" };

        const answer = await api.send(method, path, { raw, headers });

        const { status } = answer;
        const isUnderstood = (status >= 200 && status < 300) || (status >= 400 && status < 500);
        assert.ok(isUnderstood, `${method} ${path} ${raw.slice(0, 500)}: ${status} ${answer.text}`);
        if (status >= 400) assert.equal(typeof answer.body.message, "string");
        if (status >= 400) assert.equal("response" in answer.body, false);
        assert.equal(({} as { isAdmin?: unknown }).isAdmin, undefined);
      }),
      { numRuns: repeat(40, 300), interruptAfterTimeLimit: 40_000 },
    );
  });

  it("leaves all resources readable", async () => {
    for (const path of ["/clusters", api.queues, "/pipelines"]) {
      const { status, body } = await api.send("GET", `${path}?per_page=100`);
      assert.equal(status, 200);
      assert.ok(body.length > 0);
    }
    const { status, body } = await api.send("GET", triggers);
    assert.equal(status, 200);
    for (const { url } of body.items)
      assert.equal((await api.send("GET", url.split("/acme")[1])).status, 200);
  });
});
