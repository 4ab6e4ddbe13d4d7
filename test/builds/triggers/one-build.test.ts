import assert from "node:assert/strict";
import { it } from "node:test";
import { makeTriggeredBuild } from "../../../shared/builds/triggered/make.ts";
import { mirrorBuild } from "../../../shared/builds/triggered/mirror.ts";
import { passCancelOn } from "../../../shared/builds/triggered/pass-on-cancel.ts";
import { openServices } from "../../../shared/services/services.ts";
import { build } from "../../helpers/api.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { type Chain, openChain } from "./open-chain.ts";

describeOnBothDatabases("tasks of trigger steps", (database) => {
  const withChain = (body: (chain: Chain) => Promise<void>) => async () => {
    const chain = await openChain(database);
    try {
      await body(chain);
    } finally {
      await chain.close();
    }
  };

  it(
    "make one build for each job, however often and at once they are done",
    withChain(async (chain) => {
      const { services } = chain.api.world;
      const target = await chain.newPipeline([{ command: "make" }]);
      const parent = await chain.newPipeline([{ trigger: target, parallelism: 4 }]);
      await chain.build(parent);
      const { jobs } = await chain.show(parent);
      const again = jobs.flatMap(({ id }: { id: string }) =>
        Array.from({ length: 3 }, () => makeTriggeredBuild(services, id)),
      );
      await Promise.all(again);

      const builds = await chain.builds(target);
      assert.equal(builds.length, 4);
      await Promise.all(
        builds.flatMap(({ id }: { id: string }) => [mirrorBuild(services, id), mirrorBuild(services, id)]),
      );
      await Promise.all(jobs.map(({ id }: { id: string }) => passCancelOn(services, id)));
      assert.deepEqual(await chain.states(parent), ["running", "running", "running", "running", "running"]);
      assert.equal((await chain.builds(target)).length, 4);
    }),
  );

  it(
    "of a process that was killed are done by a worker",
    withChain(async (chain) => {
      const { config, services } = chain.api.world;
      const target = await chain.newPipeline([{ command: "make" }]);
      const parent = await chain.newPipeline([{ trigger: target }]);
      const { log, clock } = services;
      const killed = openServices({ config, log, clock, process: "test" });
      try {
        // Nothing of that process listens: it ends with its commit.
        const { id } = (await chain.api.send("GET", `/pipelines/${parent}`)).body;
        await build({ services: killed, clock: chain.api.world.clock }, id, 1);
      } finally {
        await killed.close();
      }
      const early = await chain.api.send("GET", `/pipelines/${parent}/builds/1`);
      assert.equal(early.body.state, "scheduled");

      await chain.settle();
      assert.deepEqual(await chain.states(parent), ["running", "running"]);
      assert.equal((await chain.builds(target)).length, 1);
    }),
  );
});
