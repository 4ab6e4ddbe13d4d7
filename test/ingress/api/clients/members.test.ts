import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { leaveArtifact } from "../../../artifacts/left-by-job.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../../helpers/agent.ts";
import { openApi } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { get } from "../../../helpers/http.ts";
import { membersOfGoClient } from "./members.ts";

describeWorldOn(sqlite, "answers to the public Go client", openApi, (api) => {
  let token: string;
  let agent: ScriptedAgent;
  let jobId: string;
  let artifactId: string;

  before(async () => {
    const scopes = ["read_organizations", "read_pipelines", "read_builds", "read_agents"] as const;
    const ofJobs = ["read_artifacts", "read_secrets_details"] as const;
    token = await api.tokenOf(api.admin, [...scopes, ...ofJobs]);
    agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    await api.build(api.acme.pipeline.id);
    const { id: buildId, jobs } = (await at("/organizations/acme/pipelines/web/builds/1")).body;
    jobId = jobs[0].id;
    const job = { id: jobId, buildId, organizationId: api.acme.id };
    artifactId = (await leaveArtifact(api.world.services, job)).id;
    await api.send("POST", "/pipelines/web/builds/1/annotations", { body: { body: "x" } });
    await api.send("POST", `/clusters/${api.acme.cluster.id}/secrets`, { body: { key: "A", value: "x" } });
  });

  const at = (path: string) => get(`${api.world.url}/v2${path}`, token);
  const addresses: Record<keyof typeof membersOfGoClient, () => string> = {
    organization: () => "/organizations/acme",
    member: () => `/organizations/acme/members/${api.admin.id}`,
    meta: () => "/meta",
    pipeline: () => "/organizations/acme/pipelines/web",
    build: () => "/organizations/acme/pipelines/web/builds/1",
    job: () => `/organizations/acme/jobs/${jobId}`,
    artifact: () => `/organizations/acme/pipelines/web/builds/1/jobs/${jobId}/artifacts/${artifactId}`,
    annotation: () => "/organizations/acme/pipelines/web/builds/1/annotations",
    secret: () => `/organizations/acme/clusters/${api.acme.cluster.id}/secrets`,
    agent: () => `/organizations/acme/agents/${agent.id}`,
  };

  for (const [resource, names] of Object.entries(membersOfGoClient))
    it(`have the members of a ${resource} that it reads`, async () => {
      const { status, body } = await at(addresses[resource as keyof typeof membersOfGoClient]());

      assert.equal(status, 200);
      const [first] = [body].flat();
      const missing = names.split(" ").filter((name) => !(name in first));
      assert.deepEqual(missing, []);
    });

  it("say what an agent is and when it connected", async () => {
    const { body } = await at(`/organizations/acme/agents/${agent.id}`);

    assert.deepEqual([body.arch, body.queue], ["amd64", "default"]);
    assert.ok(body.connected_at);
    assert.deepEqual([body.disconnected_at, body.lost_at, body.stopped_at], [null, null, null]);
  });

  it("list the agents of a queue", async () => {
    const of = async (queue: string) =>
      (await at(`/organizations/acme/agents?cluster_queue_id=${queue}`)).body;

    const found = await of(api.acme.queue.id);
    assert.deepEqual(
      found.map(({ id }: { id: string }) => id),
      [agent.id],
    );
    assert.deepEqual([await of(api.acme.cluster.id), await of("nothing")], [[], []]);
  });

  it("GET /v2/builds has the builds of the token's organization", async () => {
    const [all, own] = [await at("/builds"), await at("/organizations/acme/builds")];

    assert.equal(all.status, 200);
    assert.equal(all.body.length, 1);
    assert.deepEqual(all.body, own.body);
  });

  it("GET …/members has all members, and 404 for anybody else", async () => {
    const { body } = await at("/organizations/acme/members");
    const ids = body.map(({ id }: { id: string }) => id);

    assert.deepEqual([...ids].sort(), [api.acme.user.id, api.admin.id].sort());
    assert.equal((await at(`/organizations/acme/members/${agent.id}`)).status, 404);
  });

  describe("counts of a pipeline", () => {
    it("are of its unfinished builds and jobs", async () => {
      const { body } = await at("/organizations/acme/pipelines/web");
      const [listed] = (await at("/organizations/acme/pipelines")).body;

      const counts = (pipeline: Record<string, number>) =>
        ["scheduled_builds", "running_builds", "scheduled_jobs", "running_jobs", "waiting_jobs"].map(
          (name) => pipeline[`${name}_count`],
        );
      assert.deepEqual(counts(body), [1, 0, 1, 0, 0]);
      assert.deepEqual(counts(listed), [1, 0, 1, 0, 0]);
    });

    it("are not in the pipeline of a build", async () => {
      const { body } = await at("/organizations/acme/pipelines/web/builds/1");

      assert.equal(body.pipeline.slug, "web");
      assert.equal("running_builds_count" in body.pipeline, false);
    });
  });
});
