import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeProtectedHeader } from "jose";
import { issueReadingToken } from "../../shared/builds/meta-data/meta-data.ts";
import { findJob } from "../../shared/builds/rows/progress-store.ts";
import { enterJob } from "../agents/inside/in-a-job.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { askForToken, organizationPage, shownKeys, verify } from "./in-a-job.ts";

describeWorldOn(sqlite, "POST /v3/jobs/{job}/oidc/tokens", openApi, (api) => {
  const enter = (step: object = {}) => enterJob(api, { command: "deploy", ...step });
  const claimsFor = async (inside: Awaited<ReturnType<typeof enter>>, wanted?: object, audience?: string) => {
    const { status, body, text } = await askForToken(inside, wanted);
    assert.equal(status, 200, text);
    return (await verify(api.world, body.token, audience)).payload;
  };

  it("200: a token of five minutes for the organization's page, with what it always says", async () => {
    const inside = await enter({ key: "deploy" });
    const { branch, commit, number } = await inside.build();

    const { body } = await askForToken(inside);

    const { kid, ...header } = decodeProtectedHeader(body.token);
    assert.deepEqual(header, { typ: "JWT", alg: "RS256" });
    assert.deepEqual(await shownKeys(api.world.url), [kid]);
    const { iat = 0, nbf, exp, iss, aud, ...claims } = (await verify(api.world, body.token)).payload;
    assert.deepEqual([iss, aud], ["https://api.example.com/v3", organizationPage]);
    assert.deepEqual([nbf, exp], [iat, iat + 300]);
    assert.deepEqual(claims, {
      sub: `organization:acme:pipeline:${inside.slug}:ref:refs/heads/${branch}:commit:${commit}:step:deploy`,
      organization_slug: "acme",
      pipeline_slug: inside.slug,
      build_number: number,
      build_branch: branch,
      build_commit: commit,
      step_key: "deploy",
      job_id: inside.job,
      agent_id: inside.agent.id,
      build_source: "webhook",
      runner_environment: "self-hosted",
    });
  });

  it("has the audience and the lifetime that the job asks for, and takes what agents send for none", async () => {
    const inside = await enter();
    const asked = await claimsFor(
      inside,
      { audience: "sts.amazonaws.com", lifetime: 7200 },
      "sts.amazonaws.com",
    );
    assert.equal((asked.exp ?? 0) - (asked.iat ?? 0), 7200);
    const none = { audience: "", lifetime: 0, claims: null, aws_session_tags: [], subject_claim: "" };
    const usual = await claimsFor(inside, none);
    assert.equal((usual.exp ?? 0) - (usual.iat ?? 0), 300);
  });

  it("has further claims on request, null for a tag that the agent lacks", async () => {
    const queue = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: queue.key } }] });
    await api.build(pipeline.id);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const meta_data = [`queue=${queue.key}`, "zone=eu=1"];
    const agent = await startAgent(api.world.url, registration, { meta_data });
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    const { body: build } = await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`);
    const names = ["organization_id", "pipeline_id", "build_id", "cluster_id", "cluster_name", "queue_id"];

    const claims = [...names, "queue_key", "agent_tag:zone", "agent_tag:gpu"];
    const { body } = await agent.send("POST", `/jobs/${job}/oidc/tokens`, { claims }, token);

    const { payload } = await verify(api.world, body.token);
    assert.deepEqual(Object.fromEntries(claims.map((name) => [name, payload[name]])), {
      organization_id: api.acme.id,
      pipeline_id: pipeline.id,
      build_id: build.id,
      cluster_id: api.acme.cluster.id,
      cluster_name: api.acme.cluster.name,
      queue_id: queue.id,
      queue_key: queue.key,
      "agent_tag:zone": "eu=1",
      "agent_tag:gpu": null,
    });
    assert.equal(payload.step_key, null);
    assert.match(payload.sub ?? "", /:step:$/);
  });

  it("has another subject on request, which is then a claim too", async () => {
    const inside = await enter();
    const claims = await claimsFor(inside, { subject_claim: "build_id" });
    assert.deepEqual([claims.sub, claims.build_id], [inside.buildId, inside.buildId]);
    const ofJob = await claimsFor(inside, { subject_claim: "job_id" });
    assert.deepEqual([ofJob.sub, ofJob.job_id], [inside.job, inside.job]);
  });

  it("has session tags of AWS as lists of text, empty for what there is not", async () => {
    const inside = await enter();
    const aws_session_tags = ["organization_slug", "build_number", "step_key", "build_tag", "agent_tag:gpu"];
    const claims = await claimsFor(inside, { aws_session_tags });
    assert.deepEqual(claims["https://aws.amazon.com/tags"], {
      principal_tags: {
        organization_slug: ["acme"],
        build_number: ["1"],
        step_key: [""],
        build_tag: [""],
        "agent_tag:gpu": [""],
      },
    });
  });

  it("names the tag of a build in place of its branch", async () => {
    const queue = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: queue.key } }] });
    const tag = `${api.world.config.agentEnvPrefix}_TAG`;
    const body = { commit: "HEAD", branch: "v1.2", message: "", env: { [tag]: "v1.2" } };
    const created = await api.send("POST", `/pipelines/${pipeline.slug}/builds`, { body });
    assert.equal(created.status, 201, created.text);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, registration, { meta_data: [`queue=${queue.key}`] });
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);

    const answer = await agent.send("POST", `/jobs/${job}/oidc/tokens`, {}, token);

    const { payload } = await verify(api.world, answer.body.token);
    assert.equal(payload.build_tag, "v1.2");
    assert.match(payload.sub ?? "", /:ref:refs\/tags\/v1\.2:commit:HEAD:step:$/);
  });

  it("ends no part of its subject by what the maker of a build writes", async () => {
    const queue = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: queue.key } }] });
    const body = { commit: "c:step:d", branch: "main:commit:c:step:deploy", message: "" };
    assert.equal((await api.send("POST", `/pipelines/${pipeline.slug}/builds`, { body })).status, 201);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, registration, { meta_data: [`queue=${queue.key}`] });
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);

    const answer = await agent.send("POST", `/jobs/${job}/oidc/tokens`, {}, token);

    const { payload } = await verify(api.world, answer.body.token);
    const branch = "refs/heads/main%3Acommit%3Ac%3Astep%3Adeploy";
    assert.equal(payload.sub?.split(":ref:")[1], `${branch}:commit:c%3Astep%3Ad:step:`);
    assert.equal(payload.build_branch, body.branch);
  });

  it("422 for a lifetime over two hours, and for claims that there are not", async () => {
    const inside = await enter();
    for (const wanted of [
      { lifetime: 7201 },
      { lifetime: -1 },
      { lifetime: 1.5 },
      { lifetime: "300" },
      { audience: 1 },
      { audience: ["a"] },
      { audience: "a".repeat(2049) },
      { claims: ["nothing"] },
      { claims: ["build_number"] },
      { claims: ["__proto__"] },
      { claims: ["agent_tag:"] },
      { claims: ["agent_tag:a=b"] },
      { claims: "organization_id" },
      { claims: Array(51).fill("build_id") },
      { aws_session_tags: ["aud"] },
      { aws_session_tags: ["constructor"] },
      { subject_claim: "build_branch" },
    ]) {
      const { status, body } = await askForToken(inside, wanted);
      assert.equal(status, 422, JSON.stringify(wanted));
      assert.match(body.message, new RegExp(`^${Object.keys(wanted)[0]} `));
    }
  });

  it("401 and 404: only the job's own token, or the session that has it, while it runs", async () => {
    const [inside, other] = [await enter(), await enter()];
    const path = `/jobs/${inside.job}/oidc/tokens`;
    const { db } = api.world.services;
    const row = await db.transaction((tx) => findJob(tx, inside.job));
    assert.ok(row);

    const reading = await issueReadingToken(api.world.services, row);
    assert.equal((await inside.agent.send("POST", path, {}, reading)).status, 401);
    assert.equal((await other.send("POST", path, {})).status, 404);
    assert.equal((await other.agent.send("POST", path, {})).status, 404);
    assert.equal((await inside.agent.send("POST", path, {})).status, 200, "as agents of version 3.20 do");
    await inside.finish();
    assert.equal((await inside.send("POST", path, {})).status, 404);
  });

  it("429 for a job that asks for more than 20 within twelve seconds; another job gets its own", async () => {
    const [inside, other] = [await enter(), await enter()];
    const answers = await Promise.all(Array.from({ length: 25 }, () => askForToken(inside)));
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 20);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
    assert.equal((await askForToken(other)).status, 200);
  });
});
