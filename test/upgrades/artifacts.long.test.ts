import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { it } from "node:test";
import { freePort } from "../../scripts/scratch/ports.ts";
import { agentTokenOf, type ScriptedAgent, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { run, runIngress } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";
import { checkOut, releases, releasesMissing } from "./releases.ts";

const variable = "BUILDKITE_ARTIFACT_PATHS";
const bytes = Buffer.from("left during an upgrade");

describeOnSqlite("artifacts beside processes of a former release", (database) => {
  it("are left through the present ones, and by steps once the former are gone", {
    skip: releasesMissing,
  }, async () => {
    const api = await openApi(database);
    const settings = settingsOf(api.world);
    const present = await runIngress(settings);
    const port = String(await freePort());
    const folder = checkOut(releases.rollback);
    const former = ["ingress/main.ts", "workers/main.ts"].map((script) =>
      run([script], { ...settings, PORT: port }, "", folder),
    );
    const formerUrl = `http://127.0.0.1:${port}`;
    try {
      for (const { output } of former)
        await eventually("a former process", async () => output().includes('"started"'));
      const { key } = await api.newQueue();
      const step = { command: "make", artifact_paths: "out/*", agents: { queue: key } };
      const pipeline = await api.newPipeline({ steps: [step] });
      const agent = await startAgent(present.url, await agentTokenOf(api.world, api.acme.cluster), {
        meta_data: [`queue=${key}`],
      });
      const begin = async () => {
        await api.build(pipeline.id);
        const id = (await agent.offered()) ?? assert.fail();
        return { id, ...(await agent.begin(id)) };
      };
      const atFormer = (method: string, path: string, token: string, body?: unknown) =>
        sendAsAgent(formerUrl, token, { method, path, body });

      const job = await begin();
      assert.equal(job.env[variable], undefined);
      const artifacts = `/jobs/${job.id}/artifacts`;
      const sha1sum = createHash("sha1").update(bytes).digest("hex");
      const batch = {
        id: randomUUID(),
        artifacts: [{ path: "out/a", file_size: bytes.length, sha1sum }],
      };
      assert.equal((await atFormer("POST", artifacts, job.token, batch)).status, 404);
      const { body } = await agent.send("POST", artifacts, batch, job.token);
      assert.equal(await upload(present.url, body.upload_instructions.data), 200);
      const report = { artifacts: [{ id: body.artifact_ids[0], state: "finished" }] };
      assert.equal((await atFormer("PUT", artifacts, job.token, report)).status, 404);
      assert.equal((await agent.send("PUT", artifacts, report, job.token)).status, 200);
      const ended = { exit_status: "0", finished_at: new Date().toISOString(), chunks_failed_count: 0 };
      assert.equal((await atFormer("PUT", `/jobs/${job.id}/finish`, agent.token, ended)).status, 200);

      const next = await begin();
      assert.equal(
        await download(agent, job.env.BUILDKITE_BUILD_ID ?? "", next.token, present.url),
        `${bytes}`,
      );
      await Promise.all(former.map((each) => each.kill("SIGTERM")));
      await agent.finish(next.id);
      assert.equal((await begin()).env[variable], "out/*");
    } finally {
      await Promise.all([...former, present].map((each) => each.kill()));
      await api.close();
    }
  });
});

async function upload(url: string, fields: Record<string, string>): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, path: "out/a" })) form.append(name, value);
  form.append("file", new Blob([bytes]), "a");
  return (await fetch(`${url}/v3/artifacts/upload`, { method: "POST", body: form })).status;
}

async function download(agent: ScriptedAgent, buildId: string, token: string, base: string): Promise<string> {
  const path = `/builds/${buildId}/artifacts/search?query=out/a&state=finished`;
  const { body } = await agent.send("GET", path, undefined, token);
  const { pathname, search } = new URL(body[0].url);
  return (await fetch(base + pathname + search)).text();
}
