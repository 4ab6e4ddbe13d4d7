import type { Tx } from "../../db/database.ts";
import type { DraftedJob } from "../../graph/expand.ts";
import { entriesOfDrafts, stepsLeftOut } from "../../graph/group-order.ts";
import { problemOfEntries } from "../../graph/sound.ts";
import { finishedJobStates, type Node } from "../../vocabulary.ts";
import type { Build } from "../rows/build-store.ts";
import { listStandings } from "../rows/graph-store.ts";
import { listWaitingEntries } from "./entries-store.ts";

/**
 * Says why uploaded jobs cannot enter their build: entries of groups, new ones or present ones, could never start.
 * @param tree with the uploaded steps
 * @param drafted the uploaded jobs
 * @param position of the first of them. Present jobs from there on are not moved yet
 */
export async function problemOfUploadedEntries(
  tx: Tx,
  { id: buildId, hasMembers }: Pick<Build, "id" | "hasMembers">,
  { tree, drafted, position }: { tree: Node[]; drafted: DraftedJob[]; position: number },
): Promise<string | undefined> {
  const added = entriesOfDrafts(drafted);
  const present = hasMembers ? await listWaitingEntries(tx, buildId) : [];
  if (added.length + present.length === 0) return undefined;
  const entries = [
    ...present.filter((entry) => entry.position < position),
    ...added,
    ...present.filter((entry) => entry.position >= position),
  ];
  const ended = new Set([...(await listEndedSteps(tx, buildId)), ...stepsLeftOut(drafted)]);
  return problemOfEntries(tree, entries, ended);
}

async function listEndedSteps(tx: Tx, buildId: string): Promise<Set<string>> {
  const jobs = (await listStandings(tx, { buildId })).filter(({ retriedInJobId }) => retriedInJobId === null);
  const ids = new Set(jobs.map(({ stepId }) => stepId));
  for (const { stepId, state } of jobs) if (!finishedJobStates.includes(state)) ids.delete(stepId);
  return ids;
}
