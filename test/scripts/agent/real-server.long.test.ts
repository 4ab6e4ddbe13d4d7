import assert from "node:assert/strict";
import { before, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { buildOfDelivery } from "../../helpers/builds.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { eventually, get, post } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";
import { startAgent, startProgram } from "./agent.ts";

const settings = { AGENT_PING_SECONDS: "1", AGENT_STATUS_SECONDS: "1" };

describeWorldOn(sqlite, "npm run agent with the real server", withSettings(openAcme, settings), (world) => {
  let token: string;
  let url: string;

  before(async () => {
    const options = { description: "", queueId: null, expiresAt: null };
    ({ token } = await createAgentToken(world.services, world.acme.operator, world.acme.cluster, options));
    url = `${world.url}/v3`;
  });

  const start = () => startAgent({ endpoint: url }, ["--token", token]);

  const newPipeline = (slug: string, command: string) =>
    createPipeline(world.services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      slug,
      name: slug,
      steps: [{ command }],
    });
  const finished = (id: string) =>
    eventually("the end of the build", async () => {
      const { db } = world.services;
      const [build] = (await db.select().from(db.tables.builds)).filter((each) => each.id === id);
      const [job] = (await db.select().from(db.tables.jobs)).filter((each) => each.buildId === id);
      return build?.finishedAt && job ? { state: build.state, job } : undefined;
    });
  const readLog = async (slug: string, number: number, jobId: string) => {
    const path = `/v2/organizations/acme/pipelines/${slug}/builds/${number}/jobs/${jobId}/log.txt`;
    return (await get(world.url + path, await world.acme.token("read_build_logs"))).text;
  };

  it("runs the build that a worker makes of a signed webhook; the log has the payload's bytes", async () => {
    await world.startWorkers();
    await using agent = start();
    const [secret, payload] = ["a secret of the sender", '{"hello":  "wörld",\t"n": 1.0}\n'];
    await newPipeline("payload", "buildkite-agent meta-data get service:webhook");
    const { path } = await world.acme.trigger({ type: "github", secret }, "payload");
    const send = async (signature: string) =>
      post(world.url + path, payload, { "X-GitHub-Event": "push", "X-Hub-Signature-256": signature });

    assert.equal((await send(`sha256=${"0".repeat(64)}`)).status, 401);
    const delivery = await send(await sign(secret, payload));
    const build = await eventually("a build", () => buildOfDelivery(world, delivery.body.id));

    const { state, job } = await finished(build.id);
    assert.equal(state, "passed", agent.output());
    assert.equal(await readLog("payload", build.number, job.id), payload);
  });

  it("says first to which organization, cluster and queue it is connected", async () => {
    await using agent = start();

    const [line] = await eventually("a line", async () => /^.*\n/.exec(agent.output()) ?? undefined);

    const { cluster, queue } = world.acme;
    const place = `the organization acme, cluster ${cluster.name}, queue ${queue.key}`;
    assert.match(line, new RegExp(`: Connected as \\S+ to ${place}\\.\\n$`));
  });

  it("says why it does not serve a hosted queue", async () => {
    const { services } = world;
    const shapes = { huge: "LINUX_AMD64_64X256", mac: "MACOS_ARM64_M4_6X28" } as const;
    for (const key of ["huge", "mac"] as const)
      await createQueue(services, world.acme.operator, world.acme.cluster, {
        key,
        instanceShape: shapes[key],
      });
    const apiToken = await world.acme.token("read_clusters");
    await using agent = startProgram({ endpoint: url }, [
      "hosted",
      ...["--token", token, "--api-token", apiToken],
    ]);

    const notes = await eventually(`two paused agents: ${agent.output()}`, async () => {
      const found = (await listAgents()).flatMap(({ pausedNote }) => pausedNote ?? []);
      return found.length === 2 && found.sort().join(" ");
    });

    assert.match(notes, /The queue needs 64 CPUs and 256 GB, .* The queue needs macos on arm64, /);
  });

  async function listAgents() {
    const { db } = world.services;
    return db.select().from(db.tables.agents);
  }
});
