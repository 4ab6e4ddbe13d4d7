import assert from "node:assert/strict";
import { before, it } from "node:test";
import { aliasedTable, asc, eq, sql } from "drizzle-orm";
import type { Db } from "../../shared/db/database.ts";
import { prepared } from "../../shared/db/prepared.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("a prepared query", openApi, (api) => {
  before(async () => {
    const retried = { commands: [{ command: "true", key: "first" }, { command: "false" }] };
    const { slug } = await api.newPipeline({ steps: retried.commands });
    await api.send("POST", `/pipelines/${slug}/builds`, { body: {} });
  });

  it("has the rows that drizzle makes of the same query, with those that a join did not find", async () => {
    const { db } = api.world.services;
    const select = (reader: Db) => {
      const { jobs, builds, queues } = reader.tables;
      const later = aliasedTable(jobs, "later");
      return reader
        .select({
          id: jobs.id,
          options: jobs.ownOptions,
          createdAt: jobs.createdAt,
          doubled: sql`${jobs.position} * 2`.mapWith(Number),
          named: sql<number>`${jobs.position} + 1`.as("named"),
          build: { id: builds.id, author: builds.author, isPaused: builds.isPaused },
          queue: queues,
          later: { id: later.id, createdAt: later.createdAt, state: sql<string | null>`${later.state}` },
        })
        .from(jobs)
        .innerJoin(builds, eq(builds.id, jobs.buildId))
        .leftJoin(queues, eq(queues.id, jobs.queueId))
        .leftJoin(later, eq(later.id, jobs.retriedInJobId))
        .orderBy(asc(jobs.position));
    };
    const read = prepared<object, Awaited<ReturnType<typeof select>>[number], Db>(select);

    const rows = await read(db, {});

    assert.deepEqual(rows, await select(db));
    assert.ok(rows.length === 2 && rows.every(({ queue, later }) => queue !== null && later === null));
  });
});
