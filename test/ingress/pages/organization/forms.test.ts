import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { findQueue } from "../../../../shared/queues/store.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import type { Answer } from "../../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of an organization", startQueuePages, (pages) => {
  let other: TestOrganization;

  before(async () => {
    other = await setUpOrganization(pages, "initech");
    await buildWebhook(pages, (await pages.acme.trigger()).path);
  });

  /** Admin addresses show or take a form. */
  const addresses = (of: TestOrganization) => {
    const at = `/organizations/${of.slug}`;
    const cluster = `${at}/clusters/${of.cluster.id}`;
    const queue = `${cluster}/queues/${of.queue.id}`;
    const build = `${at}/pipelines/web/builds/1`;
    return {
      reading: [
        at,
        `${at}/pipelines`,
        `${at}/pipelines/web`,
        build,
        `${build}/payload`,
        `${at}/clusters`,
        cluster,
        queue,
      ],
      adminPages: [
        `${cluster}/edit`,
        `${cluster}/delete`,
        `${cluster}/queues/new`,
        `${queue}/edit`,
        `${queue}/delete`,
      ],
      adminForms: [
        `${at}/clusters`,
        `${cluster}/edit`,
        `${cluster}/delete`,
        `${cluster}/queues/new`,
        ...["edit", "delete", "pause", "resume"].map((action) => `${queue}/${action}`),
      ],
      memberForms: [`${build}/cancel`],
    };
  };
  const present = async () => {
    const { cluster, queue } = pages.acme;
    return (await findQueue(pages.services.db, cluster.id, queue.id)) ?? assert.fail("no queue");
  };
  const refused = (answer: Answer, reason: string) => {
    assert.equal(answer.status, 422, reason);
    const text = answer.text.replaceAll("&#39;", "'").replaceAll("&quot;", '"');
    assert.ok(
      text.includes(`role="alert" id="form-error">${reason}</p>`),
      `${reason}: ${text.match(/role="alert".*?<\/p>/)}`,
    );
  };

  describe("are for its members", () => {
    it("303 to sign-in and back, without a session", async () => {
      const nobody = await pages.visitor();
      const { reading, adminPages, adminForms, memberForms } = addresses(pages.acme);
      for (const path of [...reading, ...adminPages]) {
        const { status, headers } = await nobody.get(path);
        assert.deepEqual([status, headers.get("location")], [303, `/sign-in?to=${encodeURIComponent(path)}`]);
      }
      for (const path of [...adminForms, ...memberForms]) {
        const { status, headers } = await nobody.post(path);
        assert.deepEqual([status, headers.get("location")], [303, `/sign-in?to=${encodeURIComponent(path)}`]);
        assert.ok([200, 303].includes((await pages.asAda.get(path)).status), `there is something at ${path}`);
      }
    });

    it("404 for another organization and its resources", async () => {
      const { reading, adminPages, adminForms, memberForms } = addresses(other);
      for (const path of [...reading, ...adminPages])
        assert.equal((await pages.asAda.get(path)).status, 404, path);
      for (const path of [...adminForms, ...memberForms])
        assert.equal((await pages.asAda.post(path, { name: "x", key: "x" })).status, 404, path);

      const foreign = [
        `/clusters/${other.cluster.id}`,
        `/clusters/${pages.acme.cluster.id}/queues/${other.queue.id}`,
      ];
      for (const path of [...foreign, ...foreign.map((each) => `${each}/edit`)])
        assert.equal((await pages.asAda.get(`/organizations/acme${path}`)).status, 404, path);
      for (const odd of [
        "clusters/x",
        "clusters/%00",
        "pipelines/%00",
        "pipelines/Nope",
        "pipelines/web/builds/0",
      ])
        assert.equal((await pages.asAda.get(`/organizations/acme/${odd}`)).status, 404, odd);
      for (const odd of ["pipelines/web/builds/99999999999", "pipelines/web/builds/1e0", "clusters/%f0"])
        assert.ok([400, 404].includes((await pages.asAda.get(`/organizations/acme/${odd}`)).status), odd);
    });

    it("403 for members without the admin role, and nothing changes", async () => {
      const { reading, adminPages, adminForms } = addresses(pages.acme);
      for (const path of reading) assert.equal((await pages.asBob.get(path)).status, 200, path);
      for (const path of adminPages) assert.equal((await pages.asBob.get(path)).status, 403, path);
      for (const path of adminForms) {
        const answer = await pages.asBob.post(path, { name: "x", key: "x", note: "x" });
        assert.equal(answer.status, 403, path);
        assert.match(answer.text, /Only admins of the organization may do this/);
      }
      assert.equal((await present()).dispatchPausedAt, null);
    });

    it("403 without the CSRF token of their own page", async () => {
      const { adminForms, memberForms } = addresses(pages.acme);
      for (const path of [...adminForms, ...memberForms])
        assert.equal((await pages.asAda.post(path, { csrf_token: "x" })).status, 403, path);
    });
  });

  describe("refuse with the reason, and keep what was typed", () => {
    it("422 for a cluster", async () => {
      const { clusters, cluster } = pages.paths;
      refused(await pages.asAda.post(clusters, { name: " " }), "Name can't be blank.");
      for (const name of ["Primary", " Primary\t"])
        refused(await pages.asAda.post(clusters, { name }), "Name has already been taken.");
      const form = { name: "Primary", default_queue: other.queue.id };
      refused(
        await pages.asAda.post(`${cluster}/edit`, form),
        "Default queue must be a queue of the cluster.",
      );
    });

    it("422 for a queue", async () => {
      const path = `${pages.paths.cluster}/queues/new`;
      refused(await pages.asAda.post(path, { key: "" }), "Key can't be blank.");
      refused(
        await pages.asAda.post(path, { key: "Default", shape: "LINUX" }),
        "Instance shape is not a valid instance shape.",
      );
      const windows = { key: "w", shape: "WINDOWS_AMD64_2X8" };
      refused(
        await pages.asAda.post(path, windows),
        "Windows instance shapes are not available to this organization.",
      );

      const { queue } = pages.paths;
      const affinity = "Retry agent affinity must be prefer-warmest or prefer-different.";
      refused(await pages.asAda.post(`${queue}/edit`, { affinity: "x" }), affinity);
    });

    it("422 for the size of a hosted queue, and its image without the feature", async () => {
      const { services, actor, acme, paths } = pages;
      const hosted = await createQueue(services, actor, acme.cluster, {
        key: "hosted",
        instanceShape: "LINUX_AMD64_2X4",
      });
      const path = `${paths.cluster}/queues/${hosted.id}/edit`;
      assert.doesNotMatch((await pages.asAda.get(path)).text, /name="image"/);
      const form = { shape: "LINUX_AMD64_4X16", image: "x" };
      refused(
        await pages.asAda.post(path, form),
        "Custom agent images are not available to this organization.",
      );
      refused(
        await pages.asAda.post(path, { shape: "LINUX_ARM64_2X4" }),
        "Instance shape cannot be changed to LINUX_ARM64_2X4.",
      );

      await updateOrganization(services, "acme", { features: { custom_agent_images: true } });
      assert.match((await pages.asAda.get(path)).text, /name="image"/);
      assert.equal((await pages.asAda.post(path, form)).status, 303);
    });

    it("422 for a pause with a long note, and for a second pause", async () => {
      const { queue } = pages.paths;
      const long = await pages.asAda.post(`${queue}/pause`, { note: `Kept ${"x".repeat(2000)}` });
      refused(long, "Note is too long (maximum is 2,000 characters).");
      assert.match(long.text, />Kept x+<\/textarea>/);
      assert.doesNotMatch(long.text, /data-events/, "its address cannot be asked for again");

      const answers = await Promise.all(
        ["first", "second"].map((note) => pages.asAda.post(`${queue}/pause`, { note })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 422]);
      const { dispatchPausedNote } = await present();
      refused(
        await pages.asAda.post(`${queue}/pause`, { note: "<third>" }),
        'It is already paused. Your note was not saved: <span class="note">&lt;third></span>',
      );
      assert.equal((await present()).dispatchPausedNote, dispatchPausedNote);
      assert.equal((await pages.asAda.post(`${queue}/resume`)).status, 303);
    });

    it("303 for a note of 2,000 characters, counting a line break as one", async () => {
      const { queue } = pages.paths;
      const lines = `${"x".repeat(99)}\n`.repeat(20);

      const answer = await pages.asAda.post(`${queue}/pause`, { note: lines.replaceAll("\n", "\r\n") });

      assert.equal(answer.status, 303);
      assert.equal((await present()).dispatchPausedNote, lines);
      assert.equal((await pages.asAda.post(`${queue}/resume`)).status, 303);
    });

    it("303 for a second click on Pause or Resume", async () => {
      const { queue } = pages.paths;
      for (const note of ["", "Why"]) {
        const forms = ["pause", "pause", "resume", "resume"].map((action) => [action, { note }] as const);
        for (const [action, form] of forms) {
          const { status, headers } = await pages.asAda.post(`${queue}/${action}`, form);
          assert.equal(status, 303);
          assert.equal(headers.get("location")?.split("?")[0], queue, action);
        }
      }
      await pages.asAda.post(`${queue}/pause`, { note: "Somebody else's" });
      assert.equal((await pages.asAda.post(`${queue}/pause`, { note: "" })).status, 303);
      assert.equal((await present()).dispatchPausedNote, "Somebody else's");
      assert.equal((await pages.asAda.post(`${queue}/resume`)).status, 303);
    });

    it("422 for deleting a queue that pipelines use, naming the first ten", async () => {
      const { services, actor, acme, paths } = pages;
      const queue = await createQueue(services, actor, acme.cluster, { key: "used" });
      const steps = [{ command: "make", agents: { queue: "used" } }];
      for (let i = 1; i <= 12; i++)
        await createPipeline(services, actor, { clusterId: acme.cluster.id, name: `Used ${i}`, steps });

      const { status, text } = await pages.asAda.post(`${paths.cluster}/queues/${queue.id}/delete`);

      assert.equal(status, 422);
      assert.match(text, /12 pipelines still use it: <a href="[^"]*\/pipelines\/used-\d+">Used \d+<\/a>, /);
      assert.equal(text.match(/>Used \d+<\/a>/g)?.length, 10);
      assert.match(text, / and 2 more\.</);
    });

    it("303 to a page with a notice; names are trimmed", async () => {
      const { services, paths } = pages;
      const cluster = await pages.asAda.post(paths.clusters, { name: " Spaced\u00a0", description: "\n" });
      const at = cluster.headers.get("location")?.split("?")[0] ?? "";
      const queue = await pages.asAda.post(`${at}/queues/new`, { key: " spaced ", description: " About " });
      const edited = await pages.asAda.post(`${at}/edit`, { name: "\tRenamed " });

      assert.match(
        (await pages.asAda.get(cluster.headers.get("location") ?? "")).text,
        /The cluster is created\./,
      );
      assert.match(
        (await pages.asAda.get(queue.headers.get("location") ?? "")).text,
        /The queue is created\./,
      );
      assert.match(
        (await pages.asAda.get(edited.headers.get("location") ?? "")).text,
        /The cluster is saved\./,
      );
      const { clusters, queues } = services.db.tables;
      const [{ name, description } = assert.fail()] = await services.db
        .select()
        .from(clusters)
        .where(eq(clusters.id, at.split("/").at(-1) ?? ""));
      assert.deepEqual([name, description], ["Renamed", null]);
      const [made = assert.fail()] = await services.db.select().from(queues).where(eq(queues.key, "spaced"));
      assert.equal(made.description, "About");
    });

    it("makes the first queue of a cluster its default queue, and no later one", async () => {
      const { services, paths } = pages;
      const cluster = await pages.asAda.post(paths.clusters, { name: "Empty" });
      const at = cluster.headers.get("location")?.split("?")[0] ?? "";
      const isAnnounced = async () =>
        (await pages.asAda.get(`${at}/queues/new`)).text.includes("steps and agents that name no queue");
      const { clusters, queues } = services.db.tables;
      const keyOfDefault = async () => {
        const id = at.split("/").at(-1) ?? "";
        const rows = services.db.select({ key: queues.key }).from(clusters);
        return (
          await rows.innerJoin(queues, eq(queues.id, clusters.defaultQueueId)).where(eq(clusters.id, id))
        )[0]?.key;
      };
      assert.ok(await isAnnounced());

      await pages.asAda.post(`${at}/queues/new`, { key: "first" });

      assert.equal(await keyOfDefault(), "first");
      assert.ok(!(await isAnnounced()));
      await pages.asAda.post(`${at}/queues/new`, { key: "second" });
      assert.equal(await keyOfDefault(), "first");
    });

    it("303 to the page from an address that only takes a form", async () => {
      for (const [path, page] of [
        [`${pages.paths.queue}/pause`, pages.paths.queue],
        [`${pages.paths.queue}/resume`, pages.paths.queue],
        [`${pages.paths.build(1)}/cancel`, pages.paths.build(1)],
      ] as const)
        assert.equal((await pages.asAda.get(path)).headers.get("location"), page);
    });
  });

  it("show only a cluster's own history", async () => {
    const { text } = await pages.asBob.get(pages.paths.cluster);
    assert.match(text, /created the queue/);
    assert.doesNotMatch(text, /the (trigger|access token|member|pipeline)/);
  });

  it("do not link deleted queues", async () => {
    const { services, actor, acme, paths } = pages;
    const queue = await createQueue(services, actor, acme.cluster, { key: "gone" });
    const steps = [{ command: "make", agents: { queue: "gone" } }];
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Gone",
      steps,
    });
    await buildWebhook(pages, (await acme.trigger({}, pipeline.slug)).path);
    const build = `${paths.pipelines}/gone/builds/1`;
    assert.match((await pages.asAda.get(build)).text, new RegExp(`href="[^"]*${queue.id}"`));
    assert.equal((await pages.asBob.post(`${build}/cancel`)).status, 303);
    await services.db.transaction((tx) =>
      tx
        .update(tx.tables.queues)
        .set({ deletedAt: pages.clock.now() })
        .where(eq(tx.tables.queues.id, queue.id)),
    );

    const { text } = await pages.asAda.get(build);

    assert.doesNotMatch(text, new RegExp(`href="[^"]*${queue.id}"`));
    assert.match(text, /<span class="place">gone<\/span>/);
    assert.match(text, /by Bob/);
  });
});
