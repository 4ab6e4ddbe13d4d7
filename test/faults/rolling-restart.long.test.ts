import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sqlite } from "../helpers/databases.ts";
import { eventually, request } from "../helpers/http.ts";
import { startLoad } from "../helpers/load.ts";
import { openLoadBalancer } from "../helpers/load-balancer.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { runIngress } from "../helpers/processes.ts";
import { settingsOf, startWorld } from "../helpers/world.ts";

const restarts = Number(process.env.TEST_RESTARTS ?? 4);

describe("ingress processes behind a load balancer", () => {
  it(`lose no request while they are restarted one by one, ${restarts} times`, async () => {
    const world = await startWorld(sqlite);
    const { path } = await (await setUpOrganization(world)).trigger();
    const balancer = await openLoadBalancer();
    const start = async () => {
      const process = await runIngress({ ...settingsOf(world), DRAIN_SECONDS: "3" });
      balancer.add(process.url);
      await eventually("readiness", async () => balancer.isReady(process.url));
      return process;
    };
    const processes = [await start(), await start()];

    const load = startLoad([balancer.url + path], { most: Number.POSITIVE_INFINITY, pauseMs: 100 });
    for (let restart = 0; restart < restarts; restart++) {
      const oldest = processes.shift();
      processes.push(await start());
      await oldest?.kill("SIGTERM");
      if (oldest) balancer.remove(oldest.url);
    }
    await eventually("requests to the last processes", async () => load.accepted.length > restarts * 10);
    await load.stop();
    for (const process of processes) await process.kill("SIGTERM");
    await balancer.close();
    await world.close();

    assert.deepEqual([load.broken, load.others], [0, []]);
  });

  it("are not ready once they stop, and still answer until they have drained", async () => {
    const world = await startWorld(sqlite, { DRAIN_SECONDS: "3" });

    const closing = world.close();
    const readiness = await request(`${world.url}/readyz`);
    const answer = await request(`${world.url}/healthz`);
    await closing;

    assert.deepEqual([readiness.status, readiness.body.status], [503, "stopping"]);
    assert.deepEqual([answer.status, answer.headers.get("connection")], [200, "close"]);
    await assert.rejects(request(`${world.url}/healthz`));
  });
});
