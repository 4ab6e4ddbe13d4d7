import { listUsersById } from "../accounts/user-store.ts";
import { isOfFork } from "../builds/rows/facts.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Tables } from "../db/schema.ts";
import { hourMs } from "../durations.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import { findQueueById, type Queue } from "../queues/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { rememberRecent } from "../sharing/recent.ts";
import { secretKeyPattern } from "../vocabulary.ts";
import { isAllowed, type JobClaims, type Policy, parsePolicy } from "./policy.ts";
import { findSecretByKey, type Secret, setLastReadIfBefore } from "./store.ts";

/** By their texts: jobs of a build read the same secrets. */
const parsedPolicies = rememberRecent<Policy>(1000);

/** A job that asks for a secret. The queue decides about its cluster: its pipeline may have moved. */
export interface ReadingJob {
  queueId: string | null;
  build: Pick<Tables["builds"]["$inferSelect"], "pipelineId" | "branch" | "source" | "creatorId" | "options">;
}

/**
 * Reads a secret of the job's cluster.
 * @param key in any case
 * @throws Refusal 404; 403 by its policy, and for builds of forks
 */
export async function readSecret(
  services: Services,
  job: ReadingJob,
  key: string,
): Promise<{ id: string; key: string; value: string }> {
  const { db, cipher } = services;
  if (isOfFork(job.build)) throw new Refusal(403, "The build comes from a fork: its jobs get no secrets");
  const queue = job.queueId === null ? undefined : await findQueueById(db, job.queueId);
  const secret =
    queue && secretKeyPattern.test(key) ? await findSecretByKey(db, queue.clusterId, key) : undefined;
  if (!queue || !secret) throw notFound("secret");
  if (!(await mayRead(services, secret, { ...job, queue })))
    throw new Refusal(403, "The policy of the secret does not let this job read it");

  const value = cipher.open(secret.valueSealed, sealedPlaces.valueOfSecret(secret.id));
  await noteRead(services, secret);
  return { id: secret.id, key: secret.key, value };
}

async function mayRead(
  services: Services,
  { policy }: Secret,
  job: ReadingJob & { queue: Queue },
): Promise<boolean> {
  return policy === null || isAllowed(parseStored(policy), await claimsOf(services, job));
}

/** A policy that cannot be parsed, which was never stored, lets no job read. */
function parseStored(text: string): Policy {
  const known = parsedPolicies.get(text);
  if (known) return known;
  const parsed = parsePolicy(text);
  const policy = "policy" in parsed ? parsed.policy : [];
  parsedPolicies.set(text, policy);
  return policy;
}

async function claimsOf(
  { db }: Services,
  { build, queue }: ReadingJob & { queue: Queue },
): Promise<JobClaims> {
  const { pipelineId, branch, source, creatorId } = build;
  const slug = (await findPipelineFactsById(db, { id: pipelineId }))?.slug;
  const creator = creatorId === null ? undefined : (await listUsersById(db, [creatorId])).get(creatorId);
  return {
    pipeline_id: pipelineId,
    ...(slug !== undefined && { pipeline_slug: slug }),
    build_branch: branch,
    build_source: source,
    ...(creator && { build_creator: creator.email }),
    cluster_queue_id: queue.id,
    cluster_queue_key: queue.key,
  };
}

/** Stores the time of the read, once an hour at most. A read never fails for it. */
async function noteRead({ db, clock, log }: Services, { id, lastReadAt }: Secret): Promise<void> {
  const now = clock.now();
  const since = new Date(now.getTime() - hourMs);
  if (lastReadAt !== null && lastReadAt >= since) return;
  try {
    await db.transaction((tx) => setLastReadIfBefore(tx, { id, since, now }));
  } catch (error) {
    log.warn({ err: error }, "the time at which a secret was read could not be stored");
  }
}
