import type { Observed } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

/** No group was over its limit or let a job overtake, and none has members once all jobs have ended. */
export function checkGroups(
  { groupFaults }: Pick<Observed, "groupFaults">,
  { members, followUps }: Pick<Ledger, "members" | "followUps">,
): Discrepancy[] {
  return [
    ...groupFaults.map(({ fault, atMs }) =>
      discrepancy("groups", fault, [
        { fromMs: atMs, untilMs: atMs, request: "a look at concurrency groups", answer: fault },
      ]),
    ),
    ...members.map(({ jobId, standing }) =>
      discrepancy("groups", `job ${jobId} is a member for ever: ${standing}`),
    ),
    ...followUps.map(({ kind, subjectId }) =>
      discrepancy("groups", `${kind} of ${subjectId} was never done`),
    ),
  ];
}
