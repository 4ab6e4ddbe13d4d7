import { gzipSync } from "node:zlib";
import { eq } from "drizzle-orm";
import { type LogIntake, openLogIntake } from "../../../shared/agents/logs/append.ts";
import { closeLog } from "../../../shared/agents/logs/evict.ts";
import type { LogLease } from "../../../shared/agents/logs/place.ts";
import { createBuilds } from "../../../shared/builds/making/builds.ts";
import { newId } from "../../../shared/ids.ts";
import type { NewPipeline } from "../../../shared/pipelines/input.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { CommandStep, JobState } from "../../../shared/vocabulary.ts";
import type { TestOrganization } from "../../helpers/organization.ts";

export interface LoggedJob {
  lease: LogLease;
  intake: LogIntake;
  /** Sends the text as one chunk. */
  send(sequence: number, start: number, text: string | Buffer): Promise<void>;
  /** Sends all of it, in chunks of this size. */
  log(text: string | Buffer, chunkBytes?: number): Promise<void>;
  setState(state: JobState): Promise<void>;
  /** Ends the attempt. */
  finish(state?: JobState): Promise<void>;
}

let pipelines = 0;

/** A job of a build of its own. */
export async function newJob(
  services: Services,
  acme: TestOrganization,
  given: Pick<NewPipeline, "repository"> & { step?: CommandStep } = {},
) {
  const { step = { command: "make" }, ...more } = given;
  const pipeline = await createPipeline(services, acme.operator, {
    clusterId: acme.cluster.id,
    name: `Logged ${++pipelines}`,
    steps: [step],
    ...more,
  });
  const request = { pipelineId: pipeline.id, deliveryId: null, source: "webhook" as const };
  const commit = { message: "m", commit: "HEAD", branch: "main", environmentSealed: null };
  await services.db.transaction((tx) =>
    createBuilds(tx, services, [{ ...request, ...commit }], services.clock.now()),
  );
  const { builds, jobs } = services.db.tables;
  const [row] = await services.db
    .select({ id: jobs.id, buildId: builds.id })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(eq(builds.pipelineId, pipeline.id));
  if (!row) throw new Error("the pipeline has no job");
  const { slug } = pipeline;
  const page = `/organizations/acme/pipelines/${slug}/builds/1/jobs/${row.id}`;
  return { ...row, organizationId: acme.id, slug, page };
}

/** Leases a job, and returns what its agent does. */
export async function leaseJob(
  services: Services,
  job: { id: string; organizationId: string; attempt?: number },
  intake = openLogIntake(services),
): Promise<LoggedJob> {
  const { db, clock } = services;
  const { id: jobId, organizationId, attempt = 1 } = job;
  const lease = { jobId, organizationId, attempt, agentId: newId(clock.now()) };
  const update = (values: { state: JobState; agentId?: string; attempt?: number }) =>
    db.transaction(async (tx) => {
      const isFinished = values.state === "passed" || values.state === "failed";
      const finishedAt = isFinished ? tx.now : null;
      const acceptedAt = values.state === "scheduled" ? null : tx.now;
      await tx
        .update(tx.tables.jobs)
        .set({ ...values, acceptedAt, finishedAt })
        .where(eq(tx.tables.jobs.id, jobId));
      if (isFinished) await closeLog(tx, { jobId, attempt });
    });
  await update({ state: "running", agentId: lease.agentId, attempt });

  const send = (sequence: number, start: number, text: string | Buffer) =>
    intake.append(lease, { sequence, start, body: gzipSync(text), isGzip: true });
  return {
    lease,
    intake,
    send,
    async log(text, chunkBytes = 50_000) {
      const bytes = Buffer.from(text);
      const starts = Array.from(
        { length: Math.ceil(bytes.length / chunkBytes) },
        (_, index) => index * chunkBytes,
      );
      for (let index = 0; index < starts.length; index += 50) {
        const some = starts.slice(index, index + 50);
        await Promise.all(
          some.map((start, place) =>
            send(index + place + 1, start, bytes.subarray(start, start + chunkBytes)),
          ),
        );
      }
    },
    setState: (state) => update({ state }),
    finish: (state = "passed") => update({ state }),
  };
}
