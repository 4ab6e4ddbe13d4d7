import assert from "node:assert/strict";
import { before, it } from "node:test";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeTimedBuild, passedBuild, passedJobs } from "../builds/timed-builds.ts";

describeWorldOn(sqlite, "the dot between two facts", startQueuePages, (pages) => {
  before(async () => {
    const given = { ...passedBuild, jobs: passedJobs, clusterId: pages.acme.cluster.id, name: "timed" };
    await makeTimedBuild(pages, pages.actor, given);
  });

  it("stays on the line of the first", async () => {
    const { paths, asAda } = pages;
    const found: string[] = [];
    for (const path of [
      paths.pipelines,
      `${paths.pipelines}/timed`,
      `${paths.pipelines}/timed/builds/1`,
      "/organizations/acme/builds",
      "/organizations/acme/members",
      "/organizations/acme/search?q=timed",
      paths.cluster,
    ]) {
      const { text } = await asAda.get(path);
      const words = text.replace(/^.*<main|<title>.*?<\/title>/gs, "").replace(/<[^>]*>/g, "");
      found.push(...(words.match(/.?· ?/gsu) ?? []));
    }

    assert.ok(found.length > 5);
    assert.deepEqual([...new Set(found)], ["\u00a0· "]);
  });
});
