import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq } from "drizzle-orm";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { newId } from "../../../../shared/ids.ts";
import { describeOnSqlite } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";

describeOnSqlite("pages of an organization near its limit of stored bytes", (database) => {
  let pages: QueuePages;
  let bob: Visitor;
  const limit = 10_000;

  before(async () => {
    pages = await startQueuePages(database, { STORED_BYTES_PER_ORGANIZATION: String(limit) });
    bob = await pages.visitor(pages.bob);
  });
  after(() => pages.close());

  const setBytes = (storedBytes: number, keptBytes: number) =>
    pages.services.db.transaction(async (tx) => {
      const { organizations } = tx.tables;
      await tx
        .update(organizations)
        .set({ storedBytes, keptBytes })
        .where(eq(organizations.id, pages.acme.id));
    });
  const textOf = async (path: string) => (await bob.get(path)).text;

  it("say so from nine tenths on, on every page, and what happens above", async () => {
    await setBytes(8999, 0);
    assert.doesNotMatch(await textOf(pages.paths.pipelines), /may store/);

    await setBytes(9000, 0);
    for (const path of [pages.paths.pipelines, pages.paths.pipeline, pages.paths.clusters])
      assert.match(
        await textOf(path),
        /role="status">This organization uses 90 % of the 10,000 bytes that it may store/,
      );

    await setBytes(12_000, 10_000);
    const { pipeline } = pages.paths;
    assert.match(await textOf(pipeline), /has reached its limit of .* Delete pipelines/);
    const form = await bob.post(`${pipeline}/builds`, { message: "m", commit: "HEAD", branch: "main" });
    assert.equal(form.status, 422);
    assert.match(form.text, /Organization has reached its limit of/);
  });

  it("say that a bulk rebuild rests while the organization is full", async () => {
    await setBytes(0, 0);
    const trigger = await pages.acme.trigger();
    const { db } = pages.services;
    const id = newId(pages.services.clock.now());
    await db.transaction((tx) =>
      tx.insertMany(tx.tables.bulkRebuilds, [
        {
          id,
          organizationId: pages.acme.id,
          triggerId: trigger.id,
          filter: {},
          createdAt: tx.now,
          createdById: pages.bob.id,
          total: 2,
          lastDeliveryId: id,
          position: null,
          built: 0,
          skipped: 0,
          failed: 0,
          canceledAt: null,
          finishedAt: null,
        },
      ]),
    );
    const path = `${pages.paths.pipeline}/triggers/${trigger.id}/rebuilds/${id}`;

    await setBytes(10_000, 10_000);
    assert.match(await textOf(path), /It rests while the organization is at its limit/);
    await setBytes(10_000, 9999);
    assert.doesNotMatch(await textOf(path), /It rests/);
  });
});
