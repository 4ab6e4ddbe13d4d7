import { isFullCommit } from "../builds/meta-data/meta-data.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { findStatusTarget, type Target } from "../connections/calls.ts";
import { receiverOf } from "../connections/receivers.ts";
import type { Tx } from "../db/database.ts";
import type { NewMessage } from "../outbox/kind.ts";
import type { Turn } from "../outbox/turn.ts";
import type { Services } from "../services/services.ts";
import { type ProviderSettings, withDefaults } from "../sources/settings.ts";
import { contextOfBuild, contextOfJob } from "./contexts.ts";
import type { StatusBuild } from "./store.ts";

/** Facts of a status that no row has. */
export interface StatusTarget {
  context: string;
  of: "build" | "step" | "group";
  /** The step or group. */
  id?: string;
  /** Asked for by `notify` of a document, and not by the settings of the pipeline. */
  notice?: StatusNotice;
}

export interface StatusNotice {
  /** Of a build. */
  blockedAsPending?: boolean;
  /** Of a step that is a matrix: a job of the combination that it is about. */
  jobId?: string;
}

/** A build whose statuses its host gets. */
export interface PublishedBuild {
  subject: StatusBuild;
  settings: ProviderSettings;
  target: Target;
}

/**
 * Finds where the statuses of builds of one pipeline go. Leaves out those whose statuses go nowhere, or do not yet.
 * @param turn has the connection, and its token, in common with other messages
 */
export async function listPublishedBuilds(
  services: Pick<Services, "cipher"> & { db: Services["db"] | Tx },
  ofPipeline: readonly StatusBuild[],
  turn?: Turn,
): Promise<PublishedBuild[]> {
  const known = ofPipeline.filter(({ build }) => isFullCommit(build.commit));
  const [first] = known;
  if (!first) return [];
  const { repository, providerSettings } = first.pipeline;
  const { organizationId } = first.build;
  const find = () => findStatusTarget(services, { organizationId, repository });
  const found = await (turn ? turn.share(`host of ${repository}`, find) : find());
  if ("reason" in found) return [];
  const settings = withDefaults(providerSettings);
  return known.map((subject) => ({ subject, settings, target: found.target }));
}

/** Writes a message. Later news of the same status take its place while it waits. */
export function messageOf(
  { subject: { build, pipeline }, target: { connection } }: PublishedBuild,
  event: string,
  target: StatusTarget,
  jobId: string | null = null,
): NewMessage {
  return {
    receiver: receiverOf(connection.id, pipeline.id),
    connectionId: connection.id,
    buildId: build.id,
    jobId,
    event,
    topic: `${build.id}:${target.context}`,
    target,
  };
}

/** The context of the status of its build. */
export function contextOf(services: Pick<Services, "config">, { subject, settings }: PublishedBuild): string {
  return contextOfBuild(services.config, subject.pipeline, subject.build, settings);
}

/** The context of the status of a job's step. */
export function contextOfStep(
  services: Pick<Services, "config">,
  published: PublishedBuild,
  job: Job,
): string {
  return contextOfJob(contextOf(services, published), job, published.settings);
}
