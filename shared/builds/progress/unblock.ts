import { z } from "zod";
import { type Actor, audit } from "../../accounts/audit.ts";
import { findRole, lockActiveRole } from "../../accounts/member-store.ts";
import { listOf, record } from "../../collections.ts";
import type { Tx } from "../../db/database.ts";
import { isId } from "../../ids.ts";
import { putNewsOfJobs } from "../../news/put.ts";
import { maxFields } from "../../pipelines/step/fields.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal, validationFailed } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import type { Config } from "../../settings/config.ts";
import type { JobState } from "../../vocabulary.ts";
import { type GivenAnswers, readAnswers } from "../meta-data/answers.ts";
import { addMetaData, entryProblems } from "../meta-data/meta-data.ts";
import { auditSubject } from "../reading/require.ts";
import { unblockIfUnblockable } from "../rows/blocked-store.ts";
import type { Build } from "../rows/build-store.ts";
import type { Job, JobFacts } from "../rows/job-store.ts";
import { findJob, lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { settleBuild } from "./progress.ts";

const answerError = "Fields must be text or, of fields with several values, lists of text";
const unblockerError = "Unblocker is not a valid user id for this organization";

export const unblocking = z.object({
  fields: record(
    "Fields",
    z
      .union([z.string(), listOf(z.string({ error: answerError }), { error: answerError })], {
        error: answerError,
      })
      .nullable(),
    {
      error: "Fields must be an object of keys and text",
      max: maxFields,
      tooMany: `Fields can be ${maxFields} at most`,
    },
  )
    .nullish()
    .meta({ description: "Answers by the key of their field. Default: those of the fields" }),
  unblocker: z
    .string({ error: unblockerError })
    .nullish()
    .meta({ description: "Id of the user who unblocks it. Default: the caller" }),
});

export interface Unblocking {
  fields?: GivenAnswers | null | undefined;
  unblocker?: string | null | undefined;
}

/**
 * Unblocks a manual job: keeps the answers as meta-data, and lets the jobs behind go on.
 * @throws Refusal 404; 400 for other jobs; 403 for a member if only admins may; 422
 */
export async function unblockJob(
  { config, db, events }: Services,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: PipelineFacts },
  jobId: string,
  given: Unblocking = {},
): Promise<void> {
  const changed = await db.transaction(async (tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    const job = await findJob(tx, jobId);
    if (!present || job?.buildId !== build.id) throw notFound("job");
    if (job.type !== "manual") throw new Refusal(400, "This job type cannot be unblocked");
    return unblock(tx, config, actor, { build: present, pipeline, job }, given);
  });
  events.publish(buildTopics(build, changed));
}

/**
 * `unblockJob` in a transaction that has locked the build.
 * @returns the jobs that it scheduled
 * @throws Refusal 403, 422
 */
export async function unblock(
  tx: Tx,
  config: Pick<Config, "serviceName">,
  actor: Actor,
  { build, pipeline, job }: { build: Build; pipeline: PipelineFacts; job: Job },
  { fields, unblocker }: Unblocking,
): Promise<JobFacts[]> {
  await requireMayUnblock(tx, actor, job);
  const userId = await requireUnblocker(tx, actor, unblocker);
  const refusal = refusalOf(build, job);
  if (refusal !== undefined) throw new Refusal(422, refusal);

  const { entries, problems } = readAnswers(job.options?.manual?.fields ?? [], fields ?? {});
  const ofEntries = entries.flatMap((entry) =>
    entryProblems(entry, config.serviceName).map((message) => ({ field: `fields.${entry.key}`, message })),
  );
  if (problems.length + ofEntries.length > 0) throw validationFailed(...problems, ...ofEntries);

  await addMetaData(tx, build.id, entries);
  if (!(await unblockIfUnblockable(tx, { id: job.id, userId }))) throw new Refusal(422, tooEarly);
  await putNewsOfJobs(tx, [{ build, id: job.id, event: "job.activated" }]);
  const scheduled = await settleBuild(tx, build, tx.now);
  const named = userId === actor.userId ? [] : [{ field: "unblocker", after: userId }];
  await audit(tx, actor, "unblocked a step of", auditSubject(build, pipeline), [
    { field: "step", after: job.label ?? job.options?.key ?? job.id },
    ...named,
  ]);
  return scheduled;
}

const tooEarly = "Job cannot be unblocked yet: it waits for other steps";
const ends: Partial<Record<JobState, string>> = {
  unblocked: "somebody has unblocked it already",
  unblocked_failed: "somebody has unblocked it already",
  blocked_failed: "a step before it has failed",
  broken: "it was left out",
  canceled: "it was canceled",
  skipped: "it was skipped",
};

function refusalOf(build: Build, { state, unblockable }: Job): string | undefined {
  if (build.state === "canceled" || build.state === "canceling")
    return "Jobs from canceled builds cannot be unblocked";
  const end = ends[state];
  if (end !== undefined) return `Job cannot be unblocked: ${end}`;
  return unblockable ? undefined : tooEarly;
}

/** There are no teams: a step that names some is for admins alone. */
export function isForAdmins({ options }: Pick<Job, "options">): boolean {
  return options?.manual?.allowed_teams !== undefined;
}

/** @throws Refusal 403 */
async function requireMayUnblock(tx: Tx, { organization, userId }: Actor, job: Job): Promise<void> {
  if (!isForAdmins(job)) return;
  if ((await findRole(tx, organization.id, userId)) !== "admin")
    throw new Refusal(403, "Only admins can unblock this job, because its step names allowed_teams");
}

/** @throws Refusal 422 */
async function requireUnblocker(
  tx: Tx,
  { organization, userId }: Actor,
  unblocker: string | null | undefined,
): Promise<string> {
  if (unblocker === null || unblocker === undefined) return userId;
  const id = unblocker.toLowerCase();
  if (!isId(id) || !(await lockActiveRole(tx, organization.id, id))) throw new Refusal(422, unblockerError);
  return id;
}
