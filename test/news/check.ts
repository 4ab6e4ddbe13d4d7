import assert from "node:assert/strict";
import { newId } from "../../shared/ids.ts";
import { forgetHearers } from "../../shared/news/hearers.ts";
import type { Services } from "../../shared/services/services.ts";
import { type BuildState, finishedJobStates, type JobState, shownJobState } from "../../shared/vocabulary.ts";

/** Lets a service hear of everything in an organization. */
export async function hearAll(
  { db, clock }: Services,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    await tx.insertMany(tx.tables.notificationServices, [
      {
        id: newId(now),
        organizationId,
        provider: "webhook",
        description: "hears of everything",
        enabled: true,
        scope: "all",
        scopeIds: null,
        branchConfiguration: null,
        buildStates: null,
        events: null,
        settings: null,
        secretSealed: null,
        failureMailedAt: null,
        createdAt: now,
        createdById: userId,
        updatedAt: now,
        updatedById: userId,
      },
    ]);
  });
  forgetHearers(organizationId);
}

interface Row<State> {
  id: string;
  state: State;
}

/** The news that a state may be known by. */
const ofBuilds = (state: BuildState): string[] => {
  if (state === "scheduled") return ["build.scheduled", "build.changed"];
  if (state === "running") return ["build.running", "build.changed"];
  if (state === "failing") return ["build.failing", "build.running"];
  if (state === "canceling") return ["build.changed"];
  if (state === "skipped") return ["build.skipped"];
  return state.startsWith("blocked_") ? ["build.blocked"] : ["build.finished"];
};

const ofJobs = ({ state, type }: Row<JobState> & { type: string }): string[] | undefined => {
  if (type !== "script" && type !== "trigger") return undefined;
  if (state === "broken") return undefined; // it never was to run
  if (shownJobState(state) === "scheduled") return ["job.scheduled"];
  if (state === "running") return ["job.started", "job.promised_exit_status"];
  return finishedJobStates.includes(state) ? ["job.finished"] : undefined;
};

/** Looks whether each change of builds and jobs has become news. */
export function openNewsCheck({ db }: Services) {
  const known = new Map<string, string>();
  let seen = 0;
  return {
    async check(
      builds: Row<BuildState>[],
      jobs: (Row<JobState> & { type: string })[],
      story: string,
    ): Promise<void> {
      const all = (await db.select().from(db.tables.news)).sort((a, b) => (a.id < b.id ? -1 : 1));
      const latest = new Map(all.slice(seen).map((each) => [each.jobId ?? each.buildId, each.event]));
      seen = all.length;
      const look = (row: Row<string>, expected: string[] | undefined) => {
        const isChanged = known.get(row.id) !== row.state;
        known.set(row.id, row.state);
        const event = latest.get(row.id);
        if (isChanged && expected)
          assert.ok(event && expected.includes(event), `${row.id} is ${row.state}, news: ${event}\n${story}`);
      };
      for (const build of builds) look(build, ofBuilds(build.state));
      for (const job of jobs) look({ ...job, state: shownJobState(job.state) }, ofJobs(job));
    },
    count: () => seen,
  };
}
