import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { listBuilds } from "../../shared/builds/reading/list.ts";
import type { BuildFilter } from "../../shared/builds/reading/list-plan-store.ts";
import type { Build } from "../../shared/builds/rows/build-store.ts";
import type { ListPage } from "../../shared/db/list-page.ts";
import { newId } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import { buildStates } from "../../shared/vocabulary.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openAcme } from "../helpers/organization.ts";

const amount = 12_000;
const longBranch = `${"ü".repeat(100)}${"x".repeat(800)}`;
const branches = ["main", "release", longBranch, `${longBranch}y`];
const startMs = Date.UTC(2026, 0, 1);

describeWorld("lists of 12,000 builds", openAcme, (world) => {
  /** Newest first. */
  let builds: Build[];

  before(async () => {
    const { db } = world.services;
    builds = Array.from({ length: amount }, (_, index) => newBuild(index + 1)).reverse();
    await db.transaction((tx) => tx.insertMany(tx.tables.builds, builds));
  });

  function newBuild(number: number): Build {
    const createdAt = new Date(startMs + number * 1000);
    return {
      id: newId(createdAt),
      organizationId: world.acme.pipeline.organizationId,
      pipelineId: world.acme.pipeline.id,
      number,
      deliveryId: null,
      rebuild: 0,
      position: 0,
      state: number === 5 ? "failed" : (buildStates[number % 3] ?? "scheduled"),
      message: "m",
      commit: number % 1000 === 7 ? "abc" : "HEAD",
      branch: branches[number % 7] ?? "main",
      environmentSealed: null,
      source: "webhook",
      creatorId: null,
      author: null,
      pullRequestNumber: number % 1000 === 9 ? 42 : null,
      rebuiltFromId: null,
      options: null,
      uploadedEnvironmentSealed: null,
      hasGraph: false,
      hasMembers: false,
      triggeredByJobId: null,
      rootBuildId: null,
      notify: null,
      tellsOfJobs: false,
      scheduleId: null,
      scheduledFor: null,
      cancelReason: null,
      failingAt: null,
      pausedQueueId: null,
      isPaused: number > 3000,
      createdAt,
      startedAt: null,
      workedMs: null,
      workingSince: null,
      finishedAt: null,
    };
  }

  const passes = (filter: Partial<BuildFilter>, build: Build) =>
    (!filter.states || filter.states.includes(build.state)) &&
    (!filter.branches || filter.branches.includes(build.branch)) &&
    (!filter.commits || filter.commits.includes(build.commit)) &&
    (!filter.pullRequestNumber || filter.pullRequestNumber === build.pullRequestNumber) &&
    (!filter.createdFrom || build.createdAt >= filter.createdFrom) &&
    (!filter.createdTo || build.createdAt <= filter.createdTo) &&
    (filter.includePaused !== false || !build.isPaused);
  const list = (
    filter: Partial<BuildFilter>,
    page: Partial<ListPage> = {},
    options = { deadlineMs: 60_000 },
  ) =>
    listBuilds(
      world.services.db,
      { includePaused: true, organizationId: world.acme.pipeline.organizationId, ...filter },
      { limit: 100, offset: 0, ...page },
      options,
    );
  const numbersOf = (some: Build[]) => some.map(({ number }) => number);

  const at = (number: number) => new Date(startMs + number * 1000);
  const filters: Partial<BuildFilter>[] = [
    {},
    { states: ["scheduled"] },
    { states: ["failed"] },
    { states: ["passed", "failed", "canceled"] },
    { states: ["canceled"] },
    { branches: ["release"] },
    { branches: ["release", "release", "none"] },
    { branches: [longBranch] },
    { branches: [`${longBranch}y`], states: ["running"] },
    { branches: Array.from({ length: 50 }, (_, index) => `b${index}`).concat("release") },
    { commits: ["abc"] },
    { commits: ["abc"], branches: ["main"] },
    { commits: ["abc", "HEAD"], states: ["running", "scheduled"], branches: ["release"] },
    { pullRequestNumber: 42 },
    { pullRequestNumber: 42, states: ["running"], branches: ["main", "release"] },
    { createdFrom: at(50), createdTo: at(90) },
    { createdTo: new Date("0001-01-01T00:00:00Z") },
    { createdFrom: new Date("0001-01-01T00:00:00Z"), createdTo: new Date("9999-12-31T23:59:59.999Z") },
    { includePaused: false },
    { includePaused: false, states: ["failed"] },
    { includePaused: false, createdTo: at(20), branches: ["main"] },
  ];
  for (const scope of ["organization", "pipeline"] as const) {
    describe(`of the ${scope}`, () => {
      for (const filter of filters) {
        const { branches: given, ...rest } = filter;
        const name = JSON.stringify({
          ...rest,
          branches: given?.map((branch) => branch.slice(-9)).slice(0, 4),
        });
        it(`find what the filter ${name} lets through`, async () => {
          const scoped = scope === "pipeline" ? { ...filter, pipelineId: world.acme.pipeline.id } : filter;
          const expected = numbersOf(builds.filter((build) => passes(filter, build)));

          const first = await list(scoped);
          const second = first.next && (await list(scoped, { after: first.next }));
          const middle = await list(scoped, { limit: 3, offset: Math.floor(expected.length / 2) });
          const past = await list(scoped, { offset: expected.length });

          assert.deepEqual(numbersOf(first.rows), expected.slice(0, 100));
          assert.equal(first.next !== undefined, expected.length > 100);
          if (first.total !== undefined) assert.equal(first.total, expected.length);
          assert.ok(first.total === undefined || first.total <= 1000);
          assert.deepEqual(numbersOf(second?.rows ?? []), expected.slice(100, 200));
          const start = Math.floor(expected.length / 2);
          assert.deepEqual(numbersOf(middle.rows), expected.slice(start, start + 3));
          assert.deepEqual([past.rows, past.next], [[], undefined]);
        });
      }

      it("return every build once when a caller follows the links", async () => {
        const filter = {
          states: ["running" as const],
          ...(scope === "pipeline" && { pipelineId: world.acme.pipeline.id }),
        };
        const seen: number[] = [];
        for (let page = await list(filter); ; page = await list(filter, { after: page.next })) {
          seen.push(...numbersOf(page.rows));
          if (!page.next) break;
        }
        assert.deepEqual(seen, numbersOf(builds.filter((build) => build.state === "running")));
      });
    });
  }

  it("leave out builds of deleted pipelines", async () => {
    const { db, clock } = world.services;
    const { pipelines } = db.tables;
    const remove = (deletedAt: Date | null) =>
      db.transaction(async (tx) => {
        await tx.update(pipelines).set({ deletedAt }).where(eq(pipelines.id, world.acme.pipeline.id));
      });

    await remove(clock.now());
    const { rows } = await list({ states: ["scheduled"] });
    await remove(null);

    assert.deepEqual(rows, []);
  });

  it("answer 503 and name the filter when a search takes too long", async () => {
    await assert.rejects(
      list({ commits: ["abc"], includePaused: false }, {}, { deadlineMs: -1 }),
      (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.status, 503);
        assert.match(error.message, /for include_paused\./);
        return true;
      },
    );
  });

  it("stop when the caller disconnects", async () => {
    const gone = new Error("gone");
    let calls = 0;
    const checkCaller = () => {
      calls++;
      if (calls === 2) throw gone;
    };
    await assert.rejects(list({ includePaused: false }, { checkCaller }), gone);
  });
});
