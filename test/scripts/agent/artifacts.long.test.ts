import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Step } from "../../../shared/vocabulary.ts";
import { buildWebhook } from "../../helpers/builds.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { eventually, get } from "../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";
import { type RunningAgent, startAgent } from "./agent.ts";

describeOnSqlite("npm run agent, artifacts", (database) => {
  let world: World;
  let acme: TestOrganization;
  let agent: RunningAgent;
  let pipelines = 0;

  before(async () => {
    const port = String(await freePort());
    const limits = { ARTIFACT_BYTES_PER_ORGANIZATION: "10000000" };
    const addresses = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
    world = await startWorld(database, {
      ...addresses,
      ...limits,
      AGENT_PING_SECONDS: "1",
      AGENT_STATUS_SECONDS: "1",
    });
    acme = await setUpOrganization(world);
    const options = { description: "", queueId: null, expiresAt: null };
    const { token } = await createAgentToken(world.services, acme.operator, acme.cluster, options);
    agent = startAgent({ endpoint: `${world.url}/v3` }, ["--token", token]);
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await world.close();
  });

  /** Runs steps one after the other. Returns their exit statuses and logs, and the artifacts. */
  const run = async (commands: (string | { command: string; artifact_paths: string; key?: string })[]) => {
    const slug = `p${++pipelines}`;
    const steps = commands.flatMap((each, index): Step[] => [
      ...(index > 0 ? [{ type: "wait" as const, continue_on_failure: true }] : []),
      typeof each === "string" ? { command: each } : each,
    ]);
    const clusterId = acme.cluster.id;
    await createPipeline(world.services, acme.operator, { clusterId, slug, name: slug, steps });
    const { path } = await acme.trigger({}, slug);
    const build = await buildWebhook(world, path);
    const { builds, jobs, artifacts } = world.services.db.tables;
    const { db } = world.services;
    await eventually(`the end of ${slug}`, async () => {
      const [found] = (await db.select().from(builds)).filter(({ id }) => id === build.id);
      return found?.finishedAt;
    });
    const own = (await db.select().from(jobs)).filter((job) => job.buildId === build.id);
    const scripts = own.filter(({ type }) => type === "script").sort((a, b) => a.position - b.position);
    const token = await acme.token("read_build_logs");
    const logs = [];
    for (const { id } of scripts) {
      const log = `/v2/organizations/acme/pipelines/${slug}/builds/${build.number}/jobs/${id}/log.txt`;
      logs.push((await get(world.url + log, token)).text);
    }
    const rows = (await db.select().from(artifacts)).filter(({ buildId }) => buildId === build.id);
    return { statuses: scripts.map(({ exitStatus }) => exitStatus), logs, rows };
  };

  it("uploads what artifact_paths match, and later jobs download the same bytes", async () => {
    const make =
      "mkdir -p out/deep; head -c 3000000 /dev/urandom > 'out/a b.bin'; : > out/deep/empty; echo x > ünï";
    const { statuses, logs, rows } = await run([
      { command: `${make}; sha1sum 'out/a b.bin'`, artifact_paths: "out/**;ü*;none/*" },
      [
        "signalbox-agent artifact download '*' got/",
        "sha1sum 'got/out/a b.bin' | sed 's/got.//'; find got -type f | sort; wc -c < got/out/deep/empty",
        "signalbox-agent artifact shasum 'out/a*'",
        "signalbox-agent artifact download ünï other && cat other",
      ].join("\n"),
    ]);

    assert.deepEqual(statuses, [0, 0], logs.join("\n"));
    assert.deepEqual(rows.map(({ path, state }) => `${path} ${state}`).sort(), [
      "out/a b.bin finished",
      "out/deep/empty finished",
      "ünï finished",
    ]);
    const [line, said] = (logs[0] ?? "").split("\n");
    assert.equal(said, "Artifacts to upload: 3");
    const sum = line?.split(" ")[0];
    const files = ["got/out/a b.bin", "got/out/deep/empty", "got/ünï"];
    assert.equal(logs[1], [line, ...files, "0", sum, "x", ""].join("\n"));
  });

  it("searches by path and step, and says when there is none or too many", async () => {
    const { statuses, logs } = await run([
      {
        command: "echo 1 > a; echo 1 > b; signalbox-agent artifact upload 'a;b'",
        artifact_paths: "",
        key: "one",
      },
      "echo 2 > a; signalbox-agent artifact upload a",
      [
        "signalbox-agent artifact download a first --step one; cat first",
        "signalbox-agent artifact search '*' | cut -d ' ' -f 2",
        "signalbox-agent artifact shasum a || echo $?",
        "signalbox-agent artifact shasum '*' || echo $?",
        "signalbox-agent artifact search none || echo $?",
      ].join("\n"),
    ]);

    assert.deepEqual(statuses, [0, 0, 0], logs.join("\n"));
    assert.match(
      logs[2] ?? "",
      /^1\nb\na\nThe server refused: Multiple artifacts .*\n1\nSeveral .*\n1\nNo artifact matches none\.\n1\n$/,
    );
  });

  it("fails a job whose artifacts the server does not take, and writes no path out of the folder", async () => {
    const { statuses, logs } = await run([
      { command: "echo x > ../outside; truncate -s 20M huge; echo y > fine", artifact_paths: "huge;fine" },
      { command: "signalbox-agent artifact upload ../outside", artifact_paths: "" },
      "echo z > ../outside; signalbox-agent artifact upload ../outside",
      "mkdir in; signalbox-agent artifact download '*outside' in/",
    ]);

    assert.deepEqual(statuses, [1, 0, 0, 1], logs.join("\n"));
    assert.match(logs[0] ?? "", /did not take the artifacts: The artifacts are larger than /);
    assert.match(logs[3] ?? "", /leads out of in/);
  });
});
