import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue, updateQueue } from "../../../../shared/queues/queues.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of an organization", startQueuePages, (pages) => {
  let ada: Visitor;

  before(async () => {
    await updateOrganization(pages.services, "acme", { features: { custom_agent_images: true } });
    ada = await pages.visitor(pages.ada);
  });

  it("escape text from other users", async () => {
    const { services, actor, acme, paths } = pages;
    const evil = (place: string) =>
      `${place}'"></pre></textarea></title><script>alert(1)</script><img src=x>`;
    const cluster = await createCluster(services, actor, {
      name: evil("name"),
      description: evil("text"),
      emoji: evil("emoji"),
    });
    const queue = await createQueue(services, actor, cluster, {
      key: "q",
      description: evil("about"),
      isDefault: true,
    });
    const hosted = await createQueue(services, actor, cluster, {
      key: "h",
      instanceShape: "LINUX_AMD64_2X4",
    });
    await updateQueue(
      services,
      { ...actor, organization: { ...acme, features: ["custom_agent_images"] } },
      hosted,
      {
        hosted: { instanceShape: "LINUX_AMD64_2X4", agentImageRef: evil("image") },
      },
    );
    const pipeline = await createPipeline(services, actor, {
      clusterId: cluster.id,
      name: evil("pipeline"),
      slug: "evil",
      defaultBranch: evil("default"),
      steps: [{ label: evil("label"), command: evil("command") }],
    });
    const trigger = await acme.trigger(
      {
        label: evil("hook"),
        buildMessage: evil("message"),
        buildBranch: evil("branch"),
        buildCommit: evil("commit"),
        environment: { A: evil("value") },
      },
      pipeline.slug,
    );
    await buildWebhook(pages, trigger.path, JSON.stringify({ [evil("key")]: evil("payload") }));
    const at = `${paths.clusters}/${cluster.id}`;
    const of = `${at}/queues/${queue.id}`;
    assert.equal((await ada.post(`${of}/pause`, { note: evil("note") })).status, 303);

    const shows = async (path: string, places: string[]) => {
      const { text, status } = await ada.get(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, /<script>|<img src=x/, path);
      assert.equal(text.match(/<\/title>/g)?.length, 1, path);
      for (const place of places)
        assert.ok(
          text.includes(`${place}'&quot;>&lt;/pre>`) || text.includes(`${place}'\\&quot;>&lt;/pre>`),
          `${place} on ${path}`,
        );
    };
    await shows(paths.clusters, ["name", "text", "emoji"]);
    await shows(at, ["name", "text", "emoji"]);
    await shows(`${at}/edit`, ["name", "text"]);
    await shows(`${at}/delete`, ["name"]);
    await shows(`${at}/queues/new`, ["name"]);
    await shows(of, ["name", "about", "note"]);
    await shows(`${of}/edit`, ["about"]);
    await shows(`${at}/queues/${hosted.id}`, ["image"]);
    await shows(`${at}/queues/${hosted.id}/edit`, ["image"]);
    await shows(paths.pipelines, ["pipeline", "message"]);
    await shows(`${paths.pipelines}/evil`, ["pipeline", "message", "branch", "default", "label", "command"]);
    const build = ["message", "branch", "commit", "value", "label", "note"];
    await shows(`${paths.pipelines}/evil/builds/1?environment=shown`, build);
    const triggers = `${paths.pipelines}/evil/triggers`;
    const hook = `${triggers}/${trigger.id}`;
    await shows(triggers, ["pipeline", "hook"]);
    await shows(`${triggers}/new`, ["pipeline"]);
    await shows(hook, ["pipeline", "hook", "message", "branch", "commit"]);
    await shows(`${hook}/edit`, ["hook", "message", "branch", "commit"]);
    for (const page of ["setup", "delete", "replace"]) await shows(`${hook}/${page}`, ["hook"]);
    const again = await ada.post(`${of}/pause`, { note: evil("again") });
    assert.doesNotMatch(again.text, /<script>/);
    const long = await ada.post(`${at}/queues/new`, {
      key: evil("key"),
      description: evil("d"),
      shape: evil("s"),
      affinity: evil("a"),
    });
    assert.equal(long.status, 422);
    assert.doesNotMatch(long.text, /<script>/);
    const fields = {
      id: evil("id"),
      label: evil("label"),
      branch: evil("branch"),
      environment: evil("environment"),
      environment_choice: "replace",
      filter: evil("filter"),
      type: evil("type"),
    };
    for (const form of [`${triggers}/new`, `${hook}/edit`]) {
      const refused = await ada.post(form, fields);
      assert.equal(refused.status, 422);
      assert.doesNotMatch(refused.text, /<script>|<img src=x|<\/textarea><\/title>/);
    }
    const made = { ...fields, type: "webhook", environment: "", filter: "" };
    const created = await ada.post(`${triggers}/new`, made);
    assert.match(created.text, /label'&quot;>&lt;\/pre>/);
    assert.doesNotMatch(created.text, /<script>/);
  });
});
