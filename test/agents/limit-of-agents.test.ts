import assert from "node:assert/strict";
import { before, it } from "node:test";
import { openRegister } from "../../shared/agents/register.ts";
import { findRegistrar, type Registrar } from "../../shared/agents/tokens.ts";
import type { Services } from "../../shared/services/services.ts";
import { agentTokenOf, registration, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

const settings = { AGENTS_PER_ORGANIZATION: "3" };

describeWorld("the limit of agents in an organization", withSettings(startWorld, settings), (world) => {
  let second: World["url"];
  let token: string;
  let registrar: Registrar;

  before(async () => {
    const acme = await setUpOrganization(world);
    second = (await world.another()).url;
    token = await agentTokenOf(world, acme.cluster);
    const found = await findRegistrar(world.services, token);
    assert.ok(found);
    registrar = found;
  });

  const messageAt = (limit: number) =>
    `Organization has reached its limit of ${limit} agents: disconnect some, or ask the operator to raise AGENTS_PER_ORGANIZATION`;
  const register = (url = world.url) =>
    sendAsAgent(url, token, { method: "POST", path: "/register", body: registration });
  const present = async () => {
    const { db } = world.services;
    return (await db.select().from(db.tables.agents)).filter(({ state }) => state !== "disconnected").length;
  };

  it("is kept by registrations that race at two processes, and one that disconnects makes room", async () => {
    const agent = await startAgent(world.url, token);

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => register(index % 2 ? second : world.url)),
    );

    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422, 422, 422, 422, 422, 422]);
    for (const { body } of answers.filter(({ status }) => status === 422))
      assert.equal(body.message, messageAt(3));
    await agent.send("POST", "/disconnect");
    assert.deepEqual([(await register()).status, (await register()).status], [200, 422]);
  });

  it("keeps agents beyond a lower one", async () => {
    const { services } = world;
    const lower: Services = { ...services, config: { ...services.config, agentsPerOrganization: 1 } };
    const texts = { name: "a", hostname: "a", os: "a", arch: "a", version: "3", build: "1", ip: "::1" };
    const given = { ...texts, pid: null, metaData: [], priority: null, ignoreInDispatches: false };

    await assert.rejects(openRegister(lower)(registrar, { ...given, userAgent: null }), {
      status: 422,
      message: messageAt(1),
    });
    assert.equal(await present(), 3);
  });
});
