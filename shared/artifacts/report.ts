import { setTimeout as sleep } from "node:timers/promises";
import { type Attempt, changeWhileLeased } from "../agents/lease.ts";
import type { LeaseBatches } from "../agents/lease-batches.ts";
import type { UploadedPart } from "../blobs/blobs.ts";
import { buildTopics } from "../builds/rows/topics.ts";
import { secondMs } from "../durations.ts";
import { Refusal, unavailable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { discardBytes, failArtifacts } from "./fail.ts";
import { completeParts, findChecked } from "./parts.ts";
import { type Artifact, finishIfNew, listArtifactsById, listArtifactsOfJob } from "./store.ts";

/** An agent's report about an artifact that it announced. */
export interface Report {
  id: string;
  state: "finished" | "error";
  /** Present if the agent put the file into the bucket in parts. */
  parts?: UploadedPart[] | undefined;
}

/** Agents send a report again after a 503: a large file may take longer. */
const maxWaitMs = 20 * secondMs;
const lookEveryMs = 200;

/**
 * new → finished or error. The same report again changes nothing. Agents do not repeat a report that is refused, so
 * whatever is wrong about some artifacts, the others get their state.
 * @throws Refusal 422 once the others have it, 404 of a stale lease
 */
export async function reportArtifacts(
  services: Services,
  leases: LeaseBatches,
  attempt: Attempt,
  reports: Report[],
): Promise<void> {
  await completeAll(services, attempt, reports);
  const stateOf = new Map(reports.map(({ id, state }) => [id, state]));
  const { build, failed, problem } = await changeWhileLeased(leases, attempt, async (tx, build) => {
    const found = await listArtifactsOfJob(tx, { jobId: attempt.lease.jobId, ids: [...stateOf.keys()] });
    const judged = found.map((artifact) => {
      const state = stateOf.get(artifact.id) as Report["state"];
      return { id: artifact.id, state, problem: problemOf(artifact, state) };
    });
    const idsOf = (state: Report["state"]) =>
      judged.flatMap((each) => (each.state === state && each.problem === undefined ? each.id : []));
    await finishIfNew(tx, { ids: idsOf("finished"), now: tx.now });
    const failed = await failArtifacts(tx, build.organizationId, idsOf("error"));
    const problems = judged.flatMap(({ problem }) => problem ?? []);
    if (found.length < stateOf.size) problems.push("An artifact is not one of this job");
    return { build, failed, problem: problems[0] };
  });
  services.events.publish(buildTopics(build, []));
  await discardBytes(services, failed);
  if (problem !== undefined) throw new Refusal(422, problem);
}

/** Waits until a worker has compared what came in parts. @throws Refusal 503 */
async function completeAll(services: Services, { lease }: Attempt, reports: Report[]): Promise<void> {
  const partsOf = new Map(
    reports.flatMap(({ id, state, parts }) => (state === "finished" && parts ? [[id, parts]] : [])),
  );
  if (partsOf.size === 0 || !services.blobs.direct) return;
  const found = await listArtifactsById(services.db, [...partsOf.keys()]);
  const own = found.filter(({ jobId, uploadId }) => jobId === lease.jobId && uploadId !== null);
  const completed: string[] = [];
  for (const artifact of own)
    if (await completeParts(services, artifact, partsOf.get(artifact.id) ?? [])) completed.push(artifact.id);

  const deadline = performance.now() + maxWaitMs;
  for (const id of completed)
    while (!(await findChecked(services, id))) {
      if (performance.now() > deadline) throw unavailable();
      await sleep(lookEveryMs);
    }
}

/** Says why an artifact cannot get a state. */
function problemOf(
  { path, state, storedAt, uploadDestination }: Artifact,
  next: Report["state"],
): string | undefined {
  if (state !== "new" && state !== next) return `The artifact ${path} is ${state} already`;
  const isThere = storedAt !== null || uploadDestination !== null;
  return next === "finished" && !isThere ? `The artifact ${path} was not uploaded` : undefined;
}
