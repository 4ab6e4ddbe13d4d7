import type { Job } from "../../../shared/builds/job-store.ts";
import type { Build } from "../../../shared/builds/store.ts";
import type { BuildState } from "../../../shared/vocabulary.ts";
import { Duration } from "../ui/times.tsx";

/** Words before the time that the build ran. */
const ran: Record<BuildState, string> = {
  scheduled: "Running for",
  running: "Running for",
  failing: "Failing, running for",
  canceling: "Canceling, running for",
  passed: "Passed in",
  failed: "Failed after",
  canceled: "Canceled after",
  not_run: "Not run after",
  skipped: "Skipped after",
  blocked_passed: "Blocked, running for",
  blocked_failed: "Blocked after a failure, running for",
  blocked_running: "Blocked, running for",
};

/** `Passed in 4 min 12 s · waited 35 s`. */
export function Headline({ build }: { build: Build }) {
  const { state, createdAt, startedAt, finishedAt } = build;
  if (!startedAt)
    return (
      <p class="headline">
        {finishedAt ? "Never ran · waited" : "Waiting for"} <Strong from={createdAt} to={finishedAt} />
      </p>
    );
  return (
    <p class="headline">
      {ran[state]} <Strong from={startedAt} to={finishedAt} /> · waited{" "}
      <Strong from={createdAt} to={startedAt} />
    </p>
  );
}

function Strong(times: { from: Date; to: Date | null }) {
  return (
    <strong>
      <Duration {...times} />
    </strong>
  );
}

/** `waited 35 s · ran 4 min 12 s`, or undefined for a job that other jobs stopped or still stop. */
export function TimesOfJob({ job }: { job: Job }) {
  const { scheduledAt, startedAt, finishedAt, state } = job;
  if (!scheduledAt) return null;
  const end = startedAt ?? finishedAt;
  const isOver = finishedAt !== null;
  return (
    <>
      {end || state !== "scheduled" ? "waited " : "waits "}
      <Duration from={scheduledAt} to={end} />
      {startedAt && (
        <>
          {" · "}
          {isOver ? "ran " : "runs "}
          <strong>
            <Duration from={startedAt} to={finishedAt} />
          </strong>
        </>
      )}
    </>
  );
}
