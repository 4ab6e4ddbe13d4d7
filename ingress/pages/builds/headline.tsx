import type { Build } from "../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { type BlockedState, type BuildState, isBlocked } from "../../../shared/vocabulary.ts";
import { separator } from "../ui/tables.tsx";
import { Duration, Work } from "../ui/times.tsx";

/** Words before the time that the build ran. */
const ran: Record<Exclude<BuildState, BlockedState>, string> = {
  scheduled: "Running for",
  running: "Running for",
  failing: "Failing, running for",
  canceling: "Canceling, running for",
  passed: "Passed in",
  failed: "Failed after",
  canceled: "Canceled after",
  not_run: "Not run after",
  skipped: "Skipped after",
};

/** `Passed in 4 min 12 s · waited 35 s`, `Waits for people · begun 2 h 5 min ago`. */
export function Headline({ build }: { build: Build }) {
  const { state, createdAt, startedAt, finishedAt } = build;
  if (isBlocked(state))
    return (
      <span class="headline">
        Waits for people
        {separator}
        {startedAt ? "begun" : "made"} <Strong from={startedAt ?? createdAt} to={null} /> ago
      </span>
    );
  if (!startedAt)
    return (
      <span class="headline">
        {finishedAt ? `Never ran${separator}waited` : "Waiting for"}{" "}
        <Strong from={createdAt} to={finishedAt} />
      </span>
    );
  return (
    <span class="headline">
      {ran[state]}{" "}
      <strong>
        <Work build={build} />
      </strong>
      {separator}
      waited <Strong from={createdAt} to={startedAt} />
    </span>
  );
}

function Strong(times: { from: Date; to: Date | null }) {
  return (
    <strong>
      <Duration {...times} />
    </strong>
  );
}

/** `waited 35 s · ran 4 min 12 s`. Nothing for a job that waits for other jobs, or did so until its end. */
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
          {separator}
          {isOver ? "ran " : "runs "}
          <strong>
            <Duration from={startedAt} to={finishedAt} />
          </strong>
        </>
      )}
    </>
  );
}
