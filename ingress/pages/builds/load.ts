import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listAgentsById } from "../../../shared/agents/list-store.ts";
import { type BuildDetails, findCanceler, requireBuild } from "../../../shared/builds/builds.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { listQueuesById, type Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { findPayloadSize, findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import { findTriggerOfDelivery } from "../../../shared/triggers/store.ts";
import { admitDownload } from "../../http/downloads.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { loadPipeline } from "../pipelines/load.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { maxShownBytes } from "./payload.tsx";

/** @throws Refusal 404 */
export async function loadBuild(services: Services, request: MemberRequest): Promise<BuildDetails> {
  const pipeline = await loadPipeline(services, request);
  return requireBuild(services.db, pipeline, parseBuildNumber(request.parameter("number")));
}

export type LoadedBuild = Awaited<ReturnType<typeof loadBuildDetails>>;

/** @throws Refusal 404 */
export async function loadBuildDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const details = await loadBuild(services, request);
  const { build, jobs } = details;
  const queues = await listQueuesById(
    db,
    jobs.flatMap(({ queue }) => queue?.id ?? []),
  );
  const pausedQueues = findPausedQueues(details, queues);
  const userIds = [build.creatorId, ...pausedQueues.map(({ dispatchPausedById }) => dispatchPausedById)];
  return {
    details,
    queues,
    pausedQueues,
    agents: await listAgentsById(
      db,
      jobs.map(({ job }) => job.agentId),
    ),
    users: await listUsersById(
      db,
      userIds.filter((id) => id !== null),
    ),
    canceler: await findCanceler(db, build),
    trigger: build.deliveryId === null ? undefined : await findTriggerOfDelivery(db, build.deliveryId),
    payload:
      build.deliveryId === null ? undefined : await findPayloadStart(db, build.deliveryId, maxShownBytes),
  };
}

/** Call before the whole payload of a delivery is loaded. @throws Refusal 429, 503 */
export async function admitPayload(
  { db }: Services,
  { event, visitor, organization }: MemberRequest,
  deliveryId: string | null,
): Promise<void> {
  const bytes = deliveryId === null ? 0 : ((await findPayloadSize(db, deliveryId)) ?? 0);
  const holder = `session ${hashToken(visitor.token)}`;
  admitDownload(event, { holder, organizationId: organization.id, bytes });
}

/** The paused queues that have scheduled jobs of the build. */
function findPausedQueues({ jobs }: BuildDetails, queues: Map<string, Queue>): Queue[] {
  const waiting = new Set(jobs.filter(({ job }) => job.state === "scheduled").map(({ job }) => job.queueId));
  return [...queues.values()].filter(({ id, dispatchPausedAt }) => dispatchPausedAt && waiting.has(id));
}

/** The build's page, or one below it. */
export function buildPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug" | "number"> = patterns.buildPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, parameters);
}
