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
 * new → finished or error, all or none. The same report again changes nothing.
 * @throws Refusal 422, 404 of a stale lease
 */
export async function reportArtifacts(
  services: Services,
  leases: LeaseBatches,
  attempt: Attempt,
  reports: Report[],
): Promise<void> {
  await completeAll(services, attempt, reports);
  const stateOf = new Map(reports.map(({ id, state }) => [id, state]));
  const { build, failed } = await changeWhileLeased(leases, attempt, async (tx, build) => {
    const found = await listArtifactsOfJob(tx, { jobId: attempt.lease.jobId, ids: [...stateOf.keys()] });
    if (found.length < stateOf.size) throw new Refusal(422, "An artifact is not one of this job");
    for (const artifact of found) requireReportable(artifact, stateOf.get(artifact.id) as Report["state"]);

    const idsOf = (state: Report["state"]) =>
      [...stateOf].filter((each) => each[1] === state).map(([id]) => id);
    await finishIfNew(tx, { ids: idsOf("finished"), now: tx.now });
    return { build, failed: await failArtifacts(tx, build.organizationId, idsOf("error")) };
  });
  services.events.publish(buildTopics(build, []));
  await discardBytes(services, failed);
}

/** Waits until a worker has compared what came in parts. @throws Refusal 422, 503 */
async function completeAll(services: Services, { lease }: Attempt, reports: Report[]): Promise<void> {
  const partsOf = new Map(
    reports.flatMap(({ id, state, parts }) => (state === "finished" && parts ? [[id, parts]] : [])),
  );
  if (partsOf.size === 0 || !services.blobs.direct) return;
  const found = await listArtifactsById(services.db, [...partsOf.keys()]);
  const own = found.filter(({ jobId, uploadId }) => jobId === lease.jobId && uploadId !== null);
  for (const artifact of own) await completeParts(services, artifact, partsOf.get(artifact.id) ?? []);

  const deadline = performance.now() + maxWaitMs;
  for (const { id } of own)
    while (!(await findChecked(services, id))) {
      if (performance.now() > deadline) throw unavailable();
      await sleep(lookEveryMs);
    }
}

/** @throws Refusal 422 */
function requireReportable(
  { path, state, storedAt, uploadDestination }: Artifact,
  next: Report["state"],
): void {
  if (state !== "new" && state !== next) throw new Refusal(422, `The artifact ${path} is ${state} already`);
  const isThere = storedAt !== null || uploadDestination !== null;
  if (next === "finished" && !isThere) throw new Refusal(422, `The artifact ${path} was not uploaded`);
}
