import assert from "node:assert/strict";
import { it } from "node:test";
import { releaseExpired } from "../../../shared/agents/stacks/release.ts";
import { minuteMs } from "../../../shared/durations.ts";
import { openAgentApi, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { eventually } from "../../helpers/http.ts";
import { runIngress } from "../../helpers/processes.ts";
import { settingsOf } from "../../helpers/world.ts";
import { StackClient } from "./stack-client.ts";

describeWorld("a process that is killed while a stack reserves jobs", openAgentApi, (api) => {
  it("leaves each job reserved as answered, or schedules it again, and none is taken twice", async () => {
    const { queue, read, newAgent } = await api.buildOnQueue(...Array(400).fill({}));
    const ids: string[] = (await read()).jobs.map(({ id }: { id: string }) => id);
    const ingress = await runIngress(settingsOf(api.world));
    const client = new StackClient(ingress.url, api.agentToken);
    await client.register("killed", queue.key);
    const answered: string[] = [];
    const reserve = async () => {
      for (let start = 0; start < ids.length; start += 40)
        answered.push(...(await client.reserve(ids.slice(start, start + 40), 600)).reserved);
    };

    const reserving = reserve().catch(() => "broken");
    await eventually("some are reserved", async () => answered.length >= 80);
    await ingress.kill("SIGKILL");
    await reserving;

    const again = new StackClient(api.world.url, api.agentToken);
    await again.register("killed", queue.key);
    const states = await again.states(ids);
    assert.deepEqual(
      answered.filter((id) => states[id] !== "reserved"),
      [],
      "what was answered is reserved",
    );
    const reserved = ids.filter((id) => states[id] === "reserved");
    assert.ok(reserved.length < ids.length, "the process was killed in the middle");
    const left = await again.poll({ pages: 5 });
    assert.deepEqual(
      left.map(({ id }) => id).toSorted(),
      ids.filter((id) => !reserved.includes(id)).toSorted(),
    );
    const pinged = await (await newAgent()).offered();
    assert.ok(pinged !== undefined && !reserved.includes(pinged));
    const [first = ""] = answered;
    const pod = await startAgent(api.world.url, api.agentToken, {
      meta_data: [`queue=${queue.key}`],
      ignore_in_dispatches: true,
    });
    assert.equal((await pod.send("PUT", `/jobs/${first}/acquire`)).status, 200);

    api.world.clock.advance(11 * minuteMs);
    await releaseExpired(api.world.services);
    const after = await again.states(ids);
    assert.deepEqual(
      ids.filter((id) => id !== first && id !== pinged && after[id] !== "scheduled"),
      [],
    );
  });
});
