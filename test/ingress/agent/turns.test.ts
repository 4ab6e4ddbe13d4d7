import assert from "node:assert/strict";
import { it } from "node:test";
import { loopTurn } from "../../../shared/sharing/resources.ts";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

describeWorldOn(sqlite, "calls of agents under /v3", startWorld, (world) => {
  const agentOf = async ({ cluster }: TestOrganization) =>
    startAgent(world.url, await agentTokenOf(world, cluster));

  it("begin after those of their own organization that wait, and before those of others", async () => {
    const crowded = await setUpOrganization(world, "crowded");
    const [late, other] = [await agentOf(crowded), await agentOf(await setUpOrganization(world, "other"))];
    let begun = 0;
    const crowd = Array.from({ length: 3000 }, () => loopTurn(crowded.id).then(() => begun++));

    const begunBefore = async (agent: typeof late) => {
      assert.equal((await agent.send("POST", "/heartbeat")).status, 200);
      return begun;
    };
    const [ofLate, ofOther] = await Promise.all([begunBefore(late), begunBefore(other)]);
    await Promise.all(crowd);

    assert.equal(ofLate, crowd.length);
    assert.ok(ofOther < crowd.length, `${ofOther} began before the other's`);
  });
});
