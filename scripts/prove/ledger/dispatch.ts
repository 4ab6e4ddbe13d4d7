import type { Assignment, DispatchChange } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";

/** From an answer to a pause until a request to resume. */
export interface Pause {
  queueId: string;
  fromMs: number;
  untilMs: number;
  change: DispatchChange;
}

/** A request without an answer may be carried out so much later: its process may be frozen. */
const maxLateMs = 30_000;

/** Lists the times in which a queue was paused for certain. */
export function listPauses(changes: DispatchChange[]): Pause[] {
  return [...Map.groupBy(changes, ({ queueId }) => queueId)].flatMap(([queueId, own]) => {
    const resumes = own.filter(({ action }) => action === "resume");
    return own
      .filter(({ action, isDone }) => action === "pause" && isDone)
      .flatMap((change) => {
        const late = resumes.filter(({ isDone, fromMs }) => !isDone && fromMs < change.untilMs);
        const fromMs = Math.max(change.untilMs, ...late.map((resume) => resume.fromMs + maxLateMs));
        const next = resumes.find((resume) => resume.fromMs >= change.untilMs);
        const untilMs = next?.fromMs ?? Number.POSITIVE_INFINITY;
        return fromMs < untilMs ? [{ queueId, fromMs, untilMs, change }] : [];
      });
  });
}

/** No job is assigned while its queue is paused. */
export function checkAssignments(assignments: Assignment[], changes: DispatchChange[]): Discrepancy[] {
  const pauses = Map.groupBy(listPauses(changes), ({ queueId }) => queueId);
  return assignments.flatMap(({ queueId, jobId, fromMs, untilMs }) => {
    const pause = pauses.get(queueId)?.find((each) => each.fromMs <= fromMs && untilMs <= each.untilMs);
    if (!pause) return [];
    const attempt = { fromMs, untilMs, request: "assignment", answer: jobId };
    return discrepancy("assignments", `job ${jobId} was assigned while its queue was paused`, [
      pause.change,
      attempt,
    ]);
  });
}
