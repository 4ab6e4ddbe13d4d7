import { type Attempt, changeWhileLeased } from "../agents/lease.ts";
import type { LeaseGroup } from "../agents/lease-group.ts";
import { buildTopics } from "../builds/create.ts";
import type { Services } from "../process/services.ts";
import { Refusal } from "../refusal.ts";
import { discardBytes, failArtifacts } from "./fail.ts";
import { type Artifact, finishIfNew, listArtifactsOfJob } from "./store.ts";

/** The word of an agent about an artifact that it announced. */
export interface Report {
  id: string;
  state: "finished" | "error";
}

/**
 * new → finished or error, all or none. The same report again changes nothing.
 * @throws Refusal 422, 404 of a stale lease
 */
export async function reportArtifacts(
  services: Services,
  leases: LeaseGroup,
  attempt: Attempt,
  reports: Report[],
): Promise<void> {
  const stateOf = new Map(reports.map(({ id, state }) => [id, state]));
  const { build, failed } = await changeWhileLeased(leases, attempt, async (tx, build) => {
    const found = await listArtifactsOfJob(tx, attempt.lease.jobId, [...stateOf.keys()]);
    if (found.length < stateOf.size) throw new Refusal(422, "An artifact is not one of this job");
    for (const artifact of found) requireReportable(artifact, stateOf.get(artifact.id) as Report["state"]);

    const idsOf = (state: Report["state"]) =>
      [...stateOf].filter((each) => each[1] === state).map(([id]) => id);
    await finishIfNew(tx, idsOf("finished"));
    return { build, failed: await failArtifacts(tx, build.organizationId, idsOf("error")) };
  });
  services.events.publish(buildTopics(build, []));
  await discardBytes(services, failed);
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
