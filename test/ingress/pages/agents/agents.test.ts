import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import {
  descriptionsOfEndedAgents,
  loseUnseenAgents,
  markListening,
} from "../../../../shared/agents/lost.ts";
import { findRegistrar } from "../../../../shared/agents/tokens.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { minuteMs, secondMs } from "../../../../shared/durations.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { build } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of agents", startQueuePages, (pages) => {
  let registrationToken: string;
  before(async () => {
    registrationToken = await agentTokenOf(pages, pages.acme.cluster);
  });

  const start = (given = {}) => startAgent(pages.url, registrationToken, given);
  const agentPath = ({ id }: { id: string }) => `/organizations/acme/agents/${id}`;

  it("says that jobs wait and no agent is connected, until one is", async () => {
    await build(pages, pages.acme.pipeline.id, 22);

    const waiting = (await pages.asAda.get(pages.paths.queue)).text;

    assert.match(waiting, /no agent of this queue is connected\. <a href="#agents">Start one/);
    assert.match(waiting, /Web<\/bdi> #2\b/);
    const agent = await start({ name: "builder-7", hostname: "basement", meta_data: ["gpu=yes"] });
    const { token } = await agent.begin((await agent.offered()) ?? "");
    const running = (await pages.asAda.get(pages.paths.queue)).text;
    assert.doesNotMatch(running, /no agent of this queue is connected/);
    for (const text of ["builder-7", "basement", "gpu=yes", "Running jobs", "Waiting jobs"])
      assert.ok(running.includes(text), text);
    assert.match((await pages.asAda.get(pages.paths.cluster)).text, /builder-7/);
    assert.match((await pages.asAda.get(agentPath(agent))).text, /Web<\/bdi> #1/);
    await agent.finish((await agent.offered()) ?? "", 0, token);
  });

  it("says where there is no agent how to start one, with a link to the form of its token", async () => {
    const { services, actor, paths } = pages;
    const cluster = await createCluster(services, actor, { name: "Empty" });
    const at = `${paths.clusters}/${cluster.id}`;
    assert.doesNotMatch((await pages.asAda.get(at)).text, /npm run agent/, "without a queue no agent starts");
    const gpu = await createQueue(services, actor, cluster, { key: "gpu" });
    const started = async (path: string, as = pages.asAda) => {
      const { text } = await as.get(path);
      const [, link] = /Start one with a <a href="([^"]*)"/.exec(text) ?? [];
      return { link: link?.replaceAll("&amp;", "&"), command: /npm run agent -- start[^<]*/.exec(text)?.[0] };
    };

    const ofQueue = await started(`${at}/queues/${gpu.id}`);
    assert.equal(ofQueue.command, "npm run agent -- start --token TOKEN --queue gpu");
    assert.equal(ofQueue.link, `${at}?unfold=new-token&queue=${gpu.id}#new-token`);
    const form = (await pages.asAda.get(ofQueue.link ?? "")).text;
    assert.match(form, /<details id="new-token"[^>]* open/);
    assert.match(form, new RegExp(`<option selected value="${gpu.id}"|<option value="${gpu.id}" selected`));

    assert.deepEqual(await started(at), ofQueue, "the cluster has no default queue yet");
    await createQueue(services, actor, cluster, { key: "default", isDefault: true });
    const ofCluster = await started(at);
    assert.equal(ofCluster.command, "npm run agent -- start --token TOKEN");
    assert.equal(ofCluster.link, `${at}?unfold=new-token#new-token`);

    const ofMember = await started(at, pages.asBob);
    assert.deepEqual(ofMember, { link: undefined, command: ofCluster.command });
    assert.match((await pages.asBob.get(at)).text, /which an admin of the organization makes/);
  });

  it("pauses, resumes and stops an agent, by any member", async () => {
    const agent = await start({ name: "paused" });
    const at = agentPath(agent);

    const paused = await pages.asBob.post(`${at}/pause`, { note: "New <disks>", minutes: "5" });

    assert.equal(paused.headers.get("location"), `${at}?notice=agent_paused`);
    assert.match((await pages.asBob.get(at)).text, /Paused by Bob.*New &lt;disks>|New &lt;disks&gt;/s);
    assert.equal((await agent.ping()).action, "pause");
    assert.equal((await pages.asBob.post(`${at}/pause`, {})).status, 422);
    await pages.asBob.post(`${at}/resume`, {});
    assert.equal((await agent.ping()).action, "run");
    for (const minutes of ["0", "x", "99999"]) {
      const refused = await pages.asBob.post(`${at}/pause`, { note: "kept", minutes });
      assert.equal(refused.status, 422);
      assert.match(refused.text, /Timeout in minutes must be a whole number from 1 to 10080/);
      assert.match(refused.text, /kept/);
    }
    const stopped = await pages.asBob.post(`${at}/stop`, {});
    assert.equal(stopped.headers.get("location"), `${at}?notice=agent_stopped`);
    assert.equal((await agent.ping()).action, "disconnect");
  });

  it("says that the description of an agent that ended is no longer kept", async () => {
    const agent = await start({ name: "ended", hostname: "attic" });
    await agent.send("POST", "/disconnect");
    assert.match((await pages.asAda.get(agentPath(agent))).text, /attic/);
    pages.clock.advance(24 * 60 * minuteMs);

    await descriptionsOfEndedAgents.purge(pages.services);

    const { text } = await (await pages.visitor(pages.ada)).get(agentPath(agent));
    assert.match(text, /ended.*no longer kept/s);
    assert.doesNotMatch(text, /attic/);
  });

  it("shows an agent that came back without its job, until it asks for another", async () => {
    await build(pages, pages.acme.pipeline.id, 1);
    const agent = await start({ name: "thawed" });
    const jobId = (await agent.offered()) ?? "";
    await agent.begin(jobId);

    for (let passed = 0; passed < 2 * minuteMs; passed += 10 * secondMs) {
      pages.clock.advance(10 * secondMs);
      await markListening(pages.services);
    }
    await loseUnseenAgents(pages.services);
    await agent.send("POST", "/heartbeat", {});

    for (const path of [agentPath(agent), pages.paths.queue, pages.paths.cluster]) {
      const { text } = await pages.asAda.get(path);
      assert.match(text, /lost its job/, path);
      assert.match(text, new RegExp(`/jobs/${jobId}"[^>]*><bdi>[^<]+</bdi> #[^<]+</a>.*\\(lost\\)`), path);
    }
    assert.match((await pages.asAda.get(agentPath(agent))).text, /may still run the command/);
    await agent.ping();
    assert.doesNotMatch((await pages.asAda.get(agentPath(agent))).text, /lost its job|\(lost\)/);
  });

  it("answers 404 for agents of other organizations, and 403 without the form's token", async () => {
    const agent = await start();
    const path = `/organizations/globex/agents/${agent.id}`;

    assert.equal((await pages.asAda.get(path)).status, 404);
    assert.equal((await pages.asAda.get("/organizations/acme/agents/x")).status, 404);
    assert.equal((await pages.asAda.post(`${path}/stop`, {})).status, 404);
    const foreign = await pages.asAda.post(`${agentPath(agent)}/stop`, { csrf_token: "wrong" });
    assert.equal(foreign.status, 403);
    assert.equal((await agent.ping()).action, "run");
  });

  it("creates a registration token, shows it once, and revokes it", async () => {
    const at = `${pages.paths.cluster}/tokens`;
    const created = await pages.asAda.post(at, {
      description: "Basement",
      queue: pages.acme.queue.id,
      days: "30",
    });

    const token = /sbct_[0-9A-Za-z]{49}/.exec(created.text)?.[0] ?? "";
    const registrar = await findRegistrar(pages.services, token);
    assert.equal(registrar?.queue?.id, pages.acme.queue.id);
    const cluster = (await pages.asAda.get(pages.paths.cluster)).text;
    assert.match(cluster, /Basement/);
    assert.match(cluster, /For the queue<.*Expires<.*>never</s);
    assert.doesNotMatch(cluster, /sbct_/);
    const revoke = `${at}/${registrar?.token.id}/revoke`;
    assert.equal((await pages.asBob.get(revoke)).status, 403);
    assert.match((await pages.asAda.get(revoke)).text, /Revoke this token/);
    const revoked = await pages.asAda.post(revoke, {});
    assert.equal(revoked.headers.get("location"), `${pages.paths.cluster}?notice=agent_token_revoked`);
    assert.equal(await findRegistrar(pages.services, token), undefined);
    assert.equal((await pages.asAda.get(revoke)).status, 404);
  });

  it("leads on to the first steps, and to the cluster once a build has passed", async () => {
    const { id } = pages.acme;
    const goOn = async () => {
      const { text } = await pages.asAda.post(`${pages.paths.cluster}/tokens`, { description: "New" });
      return /href="([^"]*)"[^>]*>I have copied it</.exec(text)?.[1];
    };
    const { db } = pages.services;
    const { builds } = db.tables;
    const ofAcme = eq(builds.organizationId, id);
    const end = (state: "passed" | "failed") =>
      db.transaction((tx) => tx.update(builds).set({ state, finishedAt: tx.now }).where(ofAcme));

    await end("failed");
    assert.equal(await goOn(), "/organizations/acme#first-steps");
    await end("passed");
    assert.equal(await goOn(), pages.paths.cluster);
  });

  it("names a queue in the command if the cluster has no default queue", async () => {
    const { services, actor, paths } = pages;
    const commandOf = async (at: string, queue = "") => {
      const { text } = await pages.asAda.post(`${at}/tokens`, { description: "Command", queue });
      return / wrap="off"[^>]*>npm run agent -- start --token sbct_\w+([^<]*)</.exec(text)?.[1];
    };
    const cluster = await createCluster(services, actor, { name: "Without default" });
    const queue = await createQueue(services, actor, cluster, { key: "gpu" });
    const at = `${paths.clusters}/${cluster.id}`;

    assert.equal(await commandOf(at), " --queue gpu");
    assert.equal(await commandOf(at, queue.id), "", "the token names it");
    await createQueue(services, actor, cluster, { key: "default", isDefault: true });
    assert.equal(await commandOf(at), "");
  });

  it("lets only admins create tokens, and says what is wrong with one", async () => {
    const at = `${pages.paths.cluster}/tokens`;

    assert.equal((await pages.asBob.post(at, { description: "Mine" })).status, 403);
    assert.doesNotMatch((await pages.asBob.get(pages.paths.cluster)).text, /New token/);
    const long = await pages.asAda.post(at, { description: "x".repeat(256) });
    assert.equal(long.status, 422);
    assert.match(long.text, /Description is too long/);
    const queue = await pages.asAda.post(at, { description: "x", queue: pages.acme.cluster.id });
    assert.match(queue.text, /Queue must be a queue of the cluster/);
  });

  it("says on a job's page which signal ended its command, and why", async () => {
    await build(pages, pages.acme.pipeline.id, 1);
    const agent = await start({ name: "signaled" });
    const jobId = (await agent.offered()) ?? "";
    const { token } = await agent.begin(jobId);
    const path =
      new RegExp(`"([^"]+/jobs/${jobId})"`).exec((await pages.asAda.get(agentPath(agent))).text)?.[1] ?? "";

    const ending = { exit_status: "-1", signal: "SIGTERM", signal_reason: "agent_stop" };
    await agent.send("PUT", `/jobs/${jobId}/finish`, ending, token);

    assert.match((await pages.asAda.get(path)).text, /-1 \(SIGTERM, agent stop\)/);
  });

  it("cancels and retries a job, folds the retried one, builds again and cancels that", async () => {
    const created = await pages.asBob.post(`${pages.paths.pipeline}/builds`, {
      message: "By hand",
      branch: "topic",
      commit: "",
      environment: "REGION=eu",
    });
    const path = (created.headers.get("location") ?? "").replace("?notice=build_created", "");
    const jobOf = async () =>
      /jobs\/([\w-]{36})\/(cancel|retry)/.exec((await pages.asBob.get(path)).text)?.[1];
    const job = await jobOf();

    const canceled = await pages.asBob.post(`${path}/jobs/${job}/cancel`, {});
    assert.equal(canceled.headers.get("location"), `${path}?notice=job_canceled`);
    assert.equal((await pages.asBob.post(`${path}/jobs/${job}/cancel`, {})).status, 422);
    const retried = await pages.asBob.post(`${path}/jobs/${job}/retry`, {});
    assert.equal(retried.headers.get("location"), `${path}?notice=job_retried`);

    const shown = (await pages.asBob.get(path)).text;
    for (const text of ["By hand", "topic", "1 earlier attempt", "REGION"])
      assert.ok(shown.includes(text), text);
    assert.notEqual(await jobOf(), job);
    assert.equal((await pages.asBob.post(`${path}/jobs/x/cancel`, {})).status, 404);
    const again = await pages.asBob.post(`${path}/rebuild`, {});
    assert.match(again.headers.get("location") ?? "", /builds\/\d+\?notice=build_created$/);
    const made = again.headers.get("location")?.split("?")[0] ?? "";
    assert.notEqual(made, path);
    const ended = await pages.asBob.post(`${made}/cancel`);
    assert.equal(ended.headers.get("location"), `${made}?notice=build_canceled`);
    const late = await pages.asBob.post(`${made}/cancel`);
    assert.equal(late.status, 422);
    assert.match(late.text, /Build cannot be canceled: it has finished already/);
  });

  it("says what is wrong with a new build", async () => {
    const refused = await pages.asAda.post(`${pages.paths.pipeline}/builds`, {
      message: "Kept message",
      environment: "no equals sign",
    });

    assert.equal(refused.status, 422);
    assert.match(refused.text, /Line 1 of the environment variables has no = after a name/);
    assert.match(refused.text, /Kept message/);
  });
});
