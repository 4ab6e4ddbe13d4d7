import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { ordinarySettings } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { type Answer, untilNotBusy } from "../helpers/http.ts";
import { runSecondIngress } from "../helpers/processes.ts";
import { type MadeTrigger, openTriggerApi } from "../helpers/trigger-api.ts";

const settings = { DATABASE_HOT_POOL_SIZE: "20" };

describeWorld("triggers in two processes", withSettings(openTriggerApi, settings), (api) => {
  let second: Awaited<ReturnType<typeof runSecondIngress>>;

  before(async () => {
    second = await runSecondIngress(api.world, {
      ...ordinarySettings,
      WEBHOOK_URL: "https://hooks.example.com",
    });
    await api.send("GET", "/clusters", { url: second.url });
  });
  after(() => second.close());

  /** Alternates between both processes. */
  const together = (times: number, call: (url: string) => Promise<Answer>) =>
    Promise.all(
      Array.from({ length: times }, (_, at) => untilNotBusy(() => call(at % 2 ? second.url : api.world.url))),
    );
  const tally = (answers: Answer[]) => {
    const byAnswer = Map.groupBy(answers, ({ status, body }) => `${status} ${body?.message ?? ""}`);
    return Object.fromEntries([...byAnswer].map(([answer, all]) => [answer, all.length]));
  };
  const fresh = async (body: object = {}) => {
    const { slug } = await api.newPipeline();
    const made = await api.newTrigger(body, slug);
    return { ...made, path: `${api.triggersAt(slug)}/${made.id}` };
  };
  /** Posts to the second process first. */
  const bothAnswer = async (trigger: MadeTrigger, headers: Record<string, string> = {}) => [
    (await api.post(trigger, "{}", headers, second.url)).status,
    (await api.post(trigger, "{}", headers)).status,
  ];

  it("stay at most ten during many simultaneous creates", async () => {
    for (const present of [0, 9]) {
      const { slug } = await api.newPipeline();
      for (let made = 0; made < present; made++) await api.newTrigger({}, slug);
      const body = { type: "webhook", label: "Racing" };

      const answers = await together(20, (url) => api.send("POST", api.triggersAt(slug), { body, url }));

      assert.deepEqual(tally(answers), {
        "201 ": 10 - present,
        "422 Pipeline has reached its limit of 10 triggers": 10 + present,
      });
      assert.equal((await api.send("GET", api.triggersAt(slug))).body.items.length, 10);
    }
  });

  it("accept one of many simultaneous deletes", async () => {
    const { path } = await fresh();

    const answers = await together(20, (url) => api.send("DELETE", path, { url }));

    assert.deepEqual(tally(answers), { "204 ": 1, "404 No pipeline trigger found": 19 });
  });

  it("keep every part of simultaneous changes", async () => {
    const { path } = await fresh({ type: "github", verification: { strategy: "hmac", secret: "s" } });
    const changes = [
      { label: "Changed" },
      { enabled: false },
      { build: { message: "m" } },
      { build: { commit: "c" } },
      { build: { branch: "b" } },
      { build: { environment: { A: "1" } } },
      { verification: { strategy: "hmac", secret: "other-xy" } },
    ];

    const answers = await Promise.all(
      changes.map((body, at) =>
        untilNotBusy(() => api.send("PATCH", path, { body, url: at % 2 ? second.url : api.world.url })),
      ),
    );

    assert.deepEqual(tally(answers), { "200 ": changes.length });
    const { label, enabled, build, verification } = (await api.send("GET", path)).body;
    assert.deepEqual(
      { label, enabled, build, hint: verification.secret_hint.slice(-2) },
      {
        label: "Changed",
        enabled: false,
        build: { message: "m", commit: "c", branch: "b", environment_variables: ["A"] },
        hint: "xy",
      },
    );
  });

  it("use a new secret, or none, at once in both", async () => {
    const trigger = await fresh({ type: "github", verification: { strategy: "hmac", secret: "old" } });
    const by = async (secret: string) => ({ "X-Hub-Signature-256": await sign(secret, "{}") });
    assert.deepEqual(await bothAnswer(trigger, await by("old")), [201, 201]);

    await api.send("PATCH", trigger.path, { body: { verification: { strategy: "hmac", secret: "new" } } });
    assert.deepEqual(await bothAnswer(trigger, await by("old")), [401, 401]);
    assert.deepEqual(await bothAnswer(trigger, await by("new")), [201, 201]);

    await api.send("PATCH", trigger.path, { body: { verification: null }, url: second.url });
    assert.deepEqual(await bothAnswer(trigger), [201, 201]);
    const again = { verification: { strategy: "hmac", secret: "third" } };
    await api.send("PATCH", trigger.path, { body: again, url: second.url });
    assert.deepEqual(await bothAnswer(trigger), [401, 401]);
    assert.deepEqual(await bothAnswer(trigger, await by("third")), [201, 201]);
  });
});
