import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StepOutcome, StepState } from "../../shared/builds/reading/step-standing.ts";
import { standingOfBuild, standingOfJobs } from "../../shared/statuses/standing.ts";
import { buildStates, type JobState } from "../../shared/vocabulary.ts";

const startedAt = new Date("2026-11-28T07:00:00Z");
const finishedAt = new Date("2026-11-28T07:01:05Z");
/** Half of the time it waited. */
const worked = { startedAt, finishedAt, workedMs: 32_500, workingSince: null };

type Cell = [state: string, description: string];

/** Of a build that has started, and while blocked builds are successes. */
const builds: Record<(typeof buildStates)[number], Cell> = {
  scheduled: ["waiting", "Build #7 is scheduled"],
  running: ["running", "Build #7 is running"],
  failing: ["failed", "Build #7 is failing (32 s)"],
  canceling: ["running", "Build #7 is being canceled"],
  passed: ["passed", "Build #7 passed (32 s)"],
  failed: ["failed", "Build #7 failed (32 s)"],
  canceled: ["canceled", "Build #7 was canceled"],
  not_run: ["canceled", "Build #7 had no steps to run"],
  skipped: ["failed", "Build #7 was skipped (32 s)"],
  blocked_passed: ["passed", "Build #7 is blocked (32 s)"],
  blocked_failed: ["failed", "Build #7 failed and is blocked (32 s)"],
  blocked_running: ["running", "Build #7 is blocked"],
};

describe("what a status says of a build", () => {
  for (const state of buildStates)
    it(`that is ${state}`, () => {
      const { state: said, description } = standingOfBuild(
        { number: 7, state, ...worked },
        { blockedAsPending: false },
      );
      assert.deepEqual([said, description], builds[state]);
    });

  it("that is blocked: pending, if the pipeline wants that, unless it failed", () => {
    const of = (state: (typeof buildStates)[number]) =>
      standingOfBuild({ number: 7, state, ...worked, finishedAt: null }, { blockedAsPending: true });
    assert.deepEqual(of("blocked_passed"), { state: "waiting", description: "Build #7 is blocked" });
    assert.equal(of("blocked_failed").state, "failed");
    assert.equal(of("blocked_running").state, "running");
    assert.equal(of("passed").state, "passed");
  });

  it("without a duration while it has none", () => {
    const running = { number: 7, ...worked, finishedAt: null };
    const { description } = standingOfBuild({ ...running, state: "failing" }, { blockedAsPending: false });
    assert.equal(description, "Build #7 is failing");
  });

  it("whose steps were all left out before it started: nothing keeps the commit from being merged", () => {
    const build = { ...worked, number: 7, state: "not_run", startedAt: null } as const;
    assert.equal(standingOfBuild(build, { blockedAsPending: false }).state, "passed");
  });
});

const job = (state: JobState) => ({ state, startedAt, finishedAt });

describe("what a status says of a step", () => {
  const cells: [StepState, StepOutcome, JobState[], Cell | undefined][] = [
    ["ignored", "neutral", ["broken"], undefined],
    ["waiting_for_dependencies", "neutral", ["waiting"], undefined],
    ["ready", "neutral", ["scheduled"], ["waiting", "Scheduled"]],
    ["running", "neutral", ["running"], ["running", "Running"]],
    ["failing", "neutral", ["failed", "running"], ["failed", "Failing"]],
    ["finished", "passed", ["passed"], ["passed", "Passed (1 min 5 s)"]],
    ["finished", "soft_failed", ["failed"], ["passed", "Failed, which its step allows (1 min 5 s)"]],
    ["finished", "hard_failed", ["failed", "passed"], ["failed", "Failed (1 min 5 s)"]],
    ["finished", "errored", ["timed_out"], ["failed", "Timed out (1 min 5 s)"]],
    ["finished", "errored", ["expired"], ["failed", "Found no agent in time (1 min 5 s)"]],
    ["finished", "errored", ["canceled"], ["canceled", "Canceled"]],
    ["finished", "errored", ["waiting_failed"], ["canceled", "Did not run: a step before it failed"]],
  ];
  for (const [state, outcome, jobs, expected] of cells)
    it(`that is ${state}, ${outcome}: ${jobs.join(", ")}`, () => {
      const said = standingOfJobs({ state, outcome }, jobs.map(job));
      assert.deepEqual(said && [said.state, said.description], expected);
    });

  it("has the time in which one of its jobs ran", () => {
    const at = (second: number) => new Date(startedAt.getTime() + second * 1000);
    const { description } = standingOfJobs({ state: "finished", outcome: "passed" }, [
      { state: "passed", startedAt: at(2), finishedAt: at(9) },
      { state: "passed", startedAt: at(0), finishedAt: at(5) },
      { state: "broken", startedAt: null, finishedAt: at(1) },
      { state: "passed", startedAt: at(3600), finishedAt: at(3602) },
    ]) ?? { description: "" };
    assert.equal(description, "Passed (11 s)");
  });
});
