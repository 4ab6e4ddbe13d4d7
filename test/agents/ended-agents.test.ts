import assert from "node:assert/strict";
import { it } from "node:test";
import { descriptionsOfEndedAgents } from "../../shared/agents/lost.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

const hourMs = 3_600_000;

describeWorldOn(sqlite, "an agent that has ended", openApi, (api) => {
  it("keeps its name and token for its jobs, and drops the rest within a day", async () => {
    const { services, clock, url } = api.world;
    const given = { meta_data: ["gpu=yes"], hostname: "basement" };
    const token = await agentTokenOf(api.world, api.acme.cluster);
    const start = (name: string) => startAgent(url, token, { ...given, name });
    const read = async ({ id }: { id: string }) => (await api.send("GET", `/agents/${id}`)).body;
    const present = await start("present");
    const ended = await start("ended");
    await api.build(api.acme.pipeline.id);
    const jobId = await ended.runOne();
    await ended.send("POST", "/disconnect");
    clock.advance(10 * hourMs);
    const later = await start("later");
    await later.send("POST", "/disconnect");
    clock.advance(11 * hourMs);
    const before = [await read(present), await read(later)];

    assert.equal(await descriptionsOfEndedAgents.purge(services), 1);

    const { name, hostname, ip_address, version, user_agent, meta_data } = await read(ended);
    assert.deepEqual(
      { name, hostname, ip_address, version, user_agent, meta_data },
      { name: "ended", hostname: "", ip_address: "", version: "", user_agent: null, meta_data: [] },
    );
    assert.deepEqual([await read(present), await read(later)], before);
    const [build] = (await api.send("GET", "/builds")).body;
    assert.deepEqual([build.jobs[0].id, build.jobs[0].agent.name], [jobId, "ended"]);
    assert.equal((await ended.send("GET", "/ping")).status, 401, "the token is still known as ended");
    assert.equal(await descriptionsOfEndedAgents.purge(services), 0, "they are dropped once");
  });
});
