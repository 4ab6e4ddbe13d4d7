import assert from "node:assert/strict";
import { it } from "node:test";
import { createConnection } from "../../../../shared/connections/connections.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { read } from "../triggers/trigger-pages.ts";

const ofDemo = withSettings(startQueuePages, { DEMO_FILE: "data/demo.txt" });

describeWorldOn(sqlite, "the page of a pipeline without a build, in the demo", ofDemo, (pages) => {
  const show = async (repository: string) => {
    const { services, actor, acme } = pages;
    const pipeline = { clusterId: acme.cluster.id, name: new URL(repository).host, repository, steps: [] };
    const { slug } = await createPipeline(services, actor, pipeline);
    return read(await pages.asBob.get(`/organizations/acme/pipelines/${slug}`));
  };

  it("names the file with commands that push, for a repository on this machine alone", async () => {
    const local = "http://localhost:3001";
    await createConnection(pages.services, pages.actor, { type: "gitea", url: local, token: null });

    assert.match(
      await show(`${local}/acme/greeting.git`),
      /A push makes one: the commands for it are in <code>data\/demo\.txt<\/code>/,
    );
    assert.match(await show("https://github.com/acme/app.git"), /A push makes one, once GitHub/);
  });
});
