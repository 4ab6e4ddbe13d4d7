import assert from "node:assert/strict";
import { it } from "node:test";
import { findConnection } from "../../shared/connections/store.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { runWorker } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";
import { signed } from "../pipelines/provider/provider-api.ts";
import { startAgent } from "../scripts/agent/agent.ts";
import { giteaPush } from "../sources/payloads.ts";
import { openHostedWorld, reachable } from "./world.ts";

describeWorld("a push that is signed", openHostedWorld, (api) => {
  const startWorker = () =>
    runWorker({ ...settingsOf(api.world), ...reachable, APP_URL: "https://app.example.com" });

  it("becomes a build, and a status: pending, then success, though the worker is killed between; a token that was revoked is said", async () => {
    const { host, connection, newPipeline, told, close } = await api.connect("gitea");
    const { slug, context, provider } = await newPipeline({}, { command: "true", checkout: { skip: true } });
    const push = async () => {
      const body = JSON.stringify(giteaPush());
      const hmac = signed(provider.secret, body)["X-Hub-Signature-256"]?.replace("sha256=", "") ?? "";
      const headers = { "X-Gitea-Event": "push", "X-Gitea-Signature": hmac };
      const { pathname } = new URL(provider.webhook_url);
      assert.equal((await post(api.world.url + pathname, body, headers)).status, 201);
    };
    const { db } = api.world.services;
    const sent = async () => {
      const rows = await db.select().from(db.tables.outbox);
      return rows.filter(({ state }) => state === "sent").length;
    };

    let worker = await startWorker();
    await push();
    await eventually(
      "the status of the new build",
      async () => told(context).length > 0 && (await sent()) > 0,
    );
    assert.deepEqual(told(context), ["pending"]);
    await worker.kill("SIGKILL");

    const build = async () => (await api.rest("GET", `/pipelines/${slug}/builds/1`)).body;
    const { queue } = (await build()).jobs[0].agent_query_rules[0].match(/^queue=(?<queue>.+)$/).groups;
    {
      await using agent = startAgent({ endpoint: `${api.world.url}/v3` }, [
        ...["--token", api.agentToken, "--queue", queue],
      ]);
      await eventually(
        `the end of the build: ${agent.output()}`,
        async () => (await build()).state === "passed",
      );
    }
    assert.deepEqual(told(context).at(-1), "pending");
    worker = await startWorker();
    await eventually("its success", async () => told(context).at(-1) === "success");
    assert.deepEqual(host.wrong, []);

    host.renewToken("another-token");
    await push();
    await eventually("the news that the token was refused", async () => {
      const found = await findConnection(db, connection.organizationId, connection.id);
      return Boolean(found?.failingSince);
    });
    const requests = host.requests();
    await push();
    await eventually(
      "its build",
      async () => (await api.rest("GET", `/pipelines/${slug}/builds/3`)).status === 200,
    );
    await eventually("its news, read", async () => (await db.select().from(db.tables.news)).length === 0);
    assert.equal(host.requests(), requests, "it is not asked again");
    assert.doesNotMatch(worker.output(), /token-of-tests/);
    await worker.kill("SIGTERM");
    await close();
  });
});
