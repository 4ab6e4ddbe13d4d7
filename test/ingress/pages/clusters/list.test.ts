import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue, deleteQueue } from "../../../../shared/queues/queues.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the list of clusters", startQueuePages, (pages) => {
  const entries = async () => {
    const bob = await pages.visitor(pages.bob);
    const { text } = await bob.get("/organizations/acme/clusters");
    const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    return text.split('<li class="entry">').slice(1).map(words);
  };

  it("has the queues and the agents of all clusters", async () => {
    const text = (await pages.asBob.get("/organizations/acme/clusters")).text.replace(/<[^>]*>/g, " ");
    assert.match(
      text.replace(/\s+/g, " "),
      /Agents Queues .* default Primary active 0 0 of 0 busy Agents No agent is connected\. .* --queue default /,
    );
  });

  it("says how many jobs wait in each", async () => {
    const { services, actor, acme } = pages;
    await createCluster(services, actor, { name: "Idle" });
    assert.doesNotMatch((await entries()).join(), /wait/);

    await createBuildByHand(services, actor, acme.pipeline, { source: "ui" });
    assert.match((await entries())[0] ?? "", /1 job waits/);
    await createBuildByHand(services, actor, acme.pipeline, { source: "ui" });

    const [primary = "", idle = ""] = await entries();
    await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Wide",
      steps: [{ command: "make", parallelism: 100 }],
    }).then((wide) => createBuildByHand(services, actor, wide, { source: "ui" }));
    assert.match((await entries())[0] ?? "", /100 or more jobs wait/);
    assert.match(primary, /Primary \d+ queues?\s· 2 jobs wait/);
    assert.doesNotMatch(idle, /wait/);
  });

  it("says of a queue whose jobs wait that it has no agent, as do the pages of its cluster and itself", async () => {
    const { cluster, queue } = pages.paths;
    const states = async () => {
      const texts = ["/organizations/acme/clusters", cluster, queue].map(async (path) => {
        const { text } = await pages.asBob.get(path);
        return /class="state (\w+)".*?<\/svg>([\w ]+)</s.exec(text)?.slice(1);
      });
      return Promise.all(texts);
    };
    assert.deepEqual(await states(), Array(3).fill(["no_agent", "no agent"]));

    await startAgent(pages.url, await agentTokenOf(pages, pages.acme.cluster));

    assert.deepEqual(await states(), Array(3).fill(["active", "active"]));
  });

  it("names the paused queues of each, three at most", async () => {
    const { services, actor } = pages;
    const cluster = await createCluster(services, actor, { name: "Paused" });
    for (const key of ["one", "two", "three", "four", "gone", "runs"]) {
      const queue = await createQueue(services, actor, cluster, { key });
      if (key !== "runs") await pauseDispatch(services, actor, queue, null);
      if (key === "gone") await deleteQueue(services, actor, queue);
    }

    const all = await entries();

    assert.match(all.at(-1) ?? "", /Paused 5 queues paused one, two, three and 1 more/);
    assert.doesNotMatch(all[0] ?? "", /paused/);
  });
});
