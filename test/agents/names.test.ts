import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("%n in the name of an agent", openAgentApi, (api) => {
  const start = (name: string, { url } = api.world as { url: string }, hostname = "host") =>
    startAgent(url, api.agentToken, { name, hostname });
  const namesOf = (agents: { name: string }[]) => agents.map(({ name }) => name).sort();

  it("is the lowest number that no agent has with the same rest of the name", async () => {
    const agents = await Promise.all([1, 2, 3].map(() => start("%hostname-%n")));
    assert.deepEqual(namesOf(agents), ["host-1", "host-2", "host-3"]);
    assert.equal((await start("%hostname-%n", undefined, "other")).name, "other-1");
    const second = agents.find(({ name }) => name === "host-2");
    await second?.send("POST", "/disconnect");
    assert.equal((await start("host-%n")).name, "host-2");
    assert.equal((await start("%hostname-%n")).name, "host-4");
  });

  it("leaves out a number that an agent has by its own name", async () => {
    await start("plain-2");
    assert.deepEqual(namesOf([await start("plain-%n"), await start("plain-%n")]), ["plain-1", "plain-3"]);
  });

  it("is another for each of those that register at once with several processes", async () => {
    const other = await api.world.another();
    const agents = await Promise.all(
      Array.from({ length: 20 }, (_, index) => start("race-%n", index % 2 ? other : api.world)),
    );
    const expected = Array.from({ length: 20 }, (_, index) => `race-${index + 1}`).sort();
    assert.deepEqual(namesOf(agents), expected);
  });
});
