import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { evictArtifacts } from "../../shared/artifacts/evict.ts";
import { Receiver } from "../../shared/artifacts/receive.ts";
import { findArtifact } from "../../shared/artifacts/store.ts";
import { PublicAgent, type UploadForm, versions } from "../agents/public-agent.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";

const newest = versions.at(-1) ?? assert.fail();
const limit = 1000;
const large = { path: "large", bytes: Buffer.alloc(900, "x") };

describeOnBothDatabases("an organization at its limit of artifacts", (database) => {
  let api: Api;
  let agent: PublicAgent;

  before(async () => {
    api = await openApi(database, { ARTIFACT_BYTES_PER_ORGANIZATION: `${limit}` });
    agent = new PublicAgent(api.world.url, newest);
  });
  after(async () => {
    agent.close();
    await api.close();
  });

  it("stores no more than twice as much, whatever was announced at once and is not finished", async () => {
    const { key } = await api.newQueue();
    const { id } = await api.newPipeline({ steps: [{ command: "make", agents: { queue: key } }] });
    await api.build(id);
    await agent.start(await agentTokenOf(api.world, api.acme.cluster), key);
    const job = await agent.accept((await agent.ping()).job?.id ?? assert.fail());
    await agent.run(job);
    const announce = () => agent.announceArtifacts(job, [large]);
    const announced = await Promise.all(Array.from({ length: 5 }, announce));
    const forms = announced.map(({ body }) => body.upload_instructions as UploadForm);
    const ids = announced.map(({ body }) => body.artifact_ids[0] as string);

    // What comes slowly has its room at once, so that it counts.
    const receiver = new Receiver(api.world.services);
    const arriving = new AbortController();
    const endless = async function* () {
      yield Buffer.from("x");
      const { signal } = arriving;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("cut");
    };
    const artifacts = await Promise.all(ids.map((id) => findArtifact(api.world.services.db, id)));
    const store = (at: number) => receiver.store(artifacts[at] ?? assert.fail(), endless());
    const slow = [store(0), store(1)].map((each) => assert.rejects(each, /cut/));
    await assert.rejects(store(2), { status: 507 });
    arriving.abort();
    await Promise.all(slow);

    const send = async (at: number) => (await agent.sendArtifact(forms[at] ?? assert.fail(), large)).status;
    assert.deepEqual([await send(0), await send(1), await send(2)], [200, 200, 507]);
    const described = { path: "a", file_size: 900, sha1sum: "0".repeat(40) };
    const refused = await agent.send("POST", `/jobs/${job.id}/artifacts`, {
      json: { id: randomUUID(), artifacts: [described] },
      token: job.token,
    });
    assert.equal(refused.status, 403);
    assert.match(JSON.stringify(refused.body), /stores twice what it may/);

    const finished = ids.slice(0, 2).map((id) => ({ id, state: "finished" }));
    await agent.send("PUT", `/jobs/${job.id}/artifacts`, { json: { artifacts: finished }, token: job.token });
    assert.equal(await evictArtifacts(api.world.services), 1);
    assert.equal(await send(2), 200);
  });
});
