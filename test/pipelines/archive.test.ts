import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { and, eq } from "drizzle-orm";
import { webBase } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

describeWorld("pipelines that want no build", openTriggerApi, (api) => {
  const slugsAt = async (path: string): Promise<string[]> =>
    (await api.send("GET", path)).body.map(({ slug }: { slug: string }) => slug);
  const build = (slug: string, body: object = {}) => api.send("POST", `/pipelines/${slug}/builds`, { body });
  const deliveryOf = async (slug: string) => {
    const trigger = await api.newTrigger({}, slug);
    const id = await api.deliver(trigger);
    await api.work(id);
    const { body } = await api.send("GET", `/pipelines/${slug}/triggers/${trigger.id}/deliveries/${id}`);
    return [body.status, body.reason];
  };

  describe("as they are archived", () => {
    it("are listed apart, and say since when", async () => {
      const { slug } = await api.newPipeline();

      const { status, body } = await api.send("POST", `/pipelines/${slug}/archive`);

      assert.equal(status, 200);
      assert.ok(body.archived_at);
      assert.equal((await slugsAt("/pipelines?per_page=100")).includes(slug), false);
      assert.ok((await slugsAt("/pipelines?archived=true")).includes(slug));
      const refused = await api.send("GET", "/pipelines?archived=maybe");
      assert.equal(refused.status, 422);
      assert.equal(refused.body.message, "Validation failed: archived must be true or false");
    });

    it("stay as they are when archived again", async () => {
      const { slug } = await api.newPipeline();
      const first = await api.send("POST", `/pipelines/${slug}/archive`);

      const again = await api.send("POST", `/pipelines/${slug}/archive`);

      assert.deepEqual([again.status, again.body.archived_at], [200, first.body.archived_at]);
    });

    it("refuse builds and rebuilds until they are unarchived", async () => {
      const { slug } = await api.newPipeline();
      await build(slug);
      await api.send("POST", `/pipelines/${slug}/archive`);

      const refused = [await build(slug), await api.send("PUT", `/pipelines/${slug}/builds/1/rebuild`)];
      const { body } = await api.send("POST", `/pipelines/${slug}/unarchive`);
      const made = await build(slug);

      assert.deepEqual(
        refused.map(({ status, body }) => [status, body.message]),
        Array(2).fill([422, "Validation failed: Pipeline is archived: it makes no builds"]),
      );
      assert.equal(body.archived_at, null);
      assert.deepEqual([made.status, made.body.number], [201, 2]);
    });

    it("accept deliveries and do not run them", async () => {
      const { slug } = await api.newPipeline();
      await api.send("POST", `/pipelines/${slug}/archive`);

      assert.deepEqual(await deliveryOf(slug), ["not_run", "pipeline_archived"]);
    });
  });

  describe("of a branch that branch_configuration leaves out", () => {
    const only = { branch_configuration: "main\n  release/*" };

    it("refuse it by name, and build the others", async () => {
      const { slug } = await api.newPipeline(only);

      const answers = [
        await build(slug, { branch: "release/1" }),
        await build(slug, { branch: "topic" }),
        await build(slug, { branch: "topic", ignore_pipeline_branch_filters: true }),
      ];

      assert.deepEqual(
        answers.map(({ status, body }) => [status, body.number ?? body.message]),
        [
          [201, 1],
          [422, "Validation failed: Branch topic is not among those that the pipeline builds"],
          [201, 2],
        ],
      );
    });

    it("keep a rebuild of a build that ignored it", async () => {
      const { slug } = await api.newPipeline(only);
      await build(slug, { branch: "topic", ignore_pipeline_branch_filters: true });

      assert.equal((await api.send("PUT", `/pipelines/${slug}/builds/1/rebuild`)).status, 200);
    });

    it("accept deliveries and do not run them", async () => {
      const { slug } = await api.newPipeline({ branch_configuration: "release/*" });

      assert.deepEqual(await deliveryOf(slug), ["not_run", "branch_mismatch"]);
    });

    it("have its patterns on one line", async () => {
      assert.equal(
        ((await api.newPipeline(only)) as { branch_configuration?: string }).branch_configuration,
        "main release/*",
      );
    });

    it("build all branches once it is null or blank", async () => {
      const { slug } = await api.newPipeline(only);
      for (const branch_configuration of [null, "  "]) {
        const { body } = await api.send("PATCH", `/pipelines/${slug}`, { body: { branch_configuration } });
        assert.equal(body.branch_configuration, null);
      }

      assert.equal((await build(slug, { branch: "topic" })).status, 201);
    });
  });

  describe("and their badge", () => {
    const badgeOf = async (slug: string, query = "") => {
      const { body } = await api.send("GET", `/pipelines/${slug}`);
      assert.ok(body.badge_url.startsWith(new URL(webBase).origin));
      const answer = await fetch(`${api.world.url}${new URL(body.badge_url).pathname}${query}`);
      return { answer, text: await answer.text() };
    };

    it("is a picture that anybody can read and keep, without a name in it", async () => {
      const { slug } = await api.newPipeline({ name: "Secret plans" });
      await build(slug);

      const { answer, text } = await badgeOf(slug);

      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("content-type") ?? "", /^image\/svg\+xml/);
      assert.equal(answer.headers.get("cache-control"), "public, max-age=30");
      assert.match(text, /^<svg [^>]*aria-label="build: unknown"/);
      assert.doesNotMatch(text, /secret/i);
    });

    it("has the last result of the branch", async () => {
      const { id, slug } = await api.newPipeline();
      const { db } = api.world.services;
      await build(slug);
      await build(slug, { branch: "topic" });
      const { builds } = db.tables;
      await db.transaction(async (tx) => {
        for (const [branch, state] of [
          ["main", "passed"],
          ["topic", "failed"],
        ] as const)
          await tx
            .update(builds)
            .set({ state })
            .where(and(eq(builds.pipelineId, id), eq(builds.branch, branch)));
      });
      await build(slug);

      assert.match((await badgeOf(slug)).text, /build: passing/);
      assert.match((await badgeOf(slug, "?branch=topic")).text, /build: failing/);
      assert.match((await badgeOf(slug, "?branch=%00")).text, /build: unknown/);
    });

    it("is not found for anything but the id of a pipeline", async () => {
      for (const file of ["web.svg", `${api.acme.id}.svg`, api.acme.pipeline.id])
        assert.equal((await fetch(`${api.world.url}/badges/${file}`)).status, 404);
    });
  });
});
