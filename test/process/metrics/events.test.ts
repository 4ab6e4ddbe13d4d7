import assert from "node:assert/strict";
import { it } from "node:test";
import { visitor } from "../../../scripts/scratch/visitor.ts";
import { loseUnseenAgents, markListening } from "../../../shared/agents/lost.ts";
import { secondMs } from "../../../shared/durations.ts";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { decide } from "../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { poll, setUpClient, startDevice } from "../../helpers/device.ts";
import { post } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";
import { countObserved, readMetric } from "./read.ts";

describeWorldOn(sqlite, "metrics of events", openAcme, (world) => {
  it("count the delays from a delivery to its build, and on to its agent, once", async () => {
    const { path } = await world.acme.trigger();
    const { body } = await post(world.url + path, "{}");
    await decide(world.services, [body.id]);
    await decide(world.services, [body.id]);

    const agent = await startAgent(world.url, await agentTokenOf(world, world.acme.cluster));
    const jobId = (await agent.offered()) ?? "";
    await agent.send("PUT", `/jobs/${jobId}/accept`);
    await agent.send("PUT", `/jobs/${jobId}/accept`);

    assert.equal(await countObserved(world.services, "delivery_to_build_seconds"), 1);
    assert.equal(await countObserved(world.services, "job_wait_seconds"), 1);
  });

  it("count agents that are lost", async () => {
    await startAgent(world.url, await agentTokenOf(world, world.acme.cluster), { name: "lost" });
    const before = (await readMetric(world.services, "agents_lost_total")) ?? 0;
    for (let steps = 0; steps < 10; steps++) {
      world.clock.advance(20 * secondMs);
      await markListening(world.services);
    }
    const lost = await loseUnseenAgents(world.services);
    assert.ok(lost > 0);
    assert.equal(await readMetric(world.services, "agents_lost_total"), before + lost);
  });

  it("count refused sign-ins by cause", async () => {
    const somebody = visitor(world.url);
    const signIn = () => somebody.post("/sign-in", { email: world.acme.user.email, password: "wrong" });
    await somebody.get("/sign-in");
    for (let tries = 0; tries < world.config.signInFailures; tries++) await signIn();
    const { status } = await signIn();

    const causes = (cause: string) =>
      readMetric(world.services, "attempts_refused_total", { attempt: "sign_in", cause });
    assert.equal(status, 429);
    assert.deepEqual([await causes("wrong"), await causes("too_many")], [world.config.signInFailures, 1]);
  });

  it("count refused requests of devices by error code", async () => {
    const client = await setUpClient(world);
    const { deviceCode } = await startDevice(world, client);
    await poll(world, client, deviceCode);
    await poll(world, client, deviceCode);
    await poll(world, client, "sbdc_nonsense");

    const refused = (error: string) => readMetric(world.services, "oauth_refused_total", { error });
    assert.deepEqual(
      [await refused("authorization_pending"), await refused("slow_down"), await refused("invalid_grant")],
      [1, 1, 1],
    );
  });

  it("say whether the last periodic write was committed", async () => {
    assert.equal(await readMetric(world.services, "database_writable"), 1);
  });
});
