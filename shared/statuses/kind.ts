import { isDeepStrictEqual } from "node:util";
import { findPromising } from "../builds/progress/promises.ts";
import { standingOfStep } from "../builds/reading/step-standing.ts";
import { listJobsOfStep } from "../builds/reading/step-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { type CommitStatus, statusRequests } from "../connections/hosts/statuses.ts";
import { hourMs } from "../durations.ts";
import { listJobsOfGroup } from "../notices/store.ts";
import type { MessageKind, Verdict } from "../outbox/kind.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import type { Services } from "../services/services.ts";
import { web } from "../settings/urls.ts";
import { meaningOf } from "./answers.ts";
import { messagesOf } from "./messages.ts";
import { standingOfBuild, standingOfJobs } from "./standing.ts";
import {
  failConnection,
  findNewerStatus,
  listStatusBuilds,
  mendConnectionIfFailing,
  restConnection,
} from "./store.ts";
import { contextOfStep, listPublishedBuilds, type PublishedBuild, type StatusTarget } from "./target.ts";

/** Messages that show the state of builds and steps at their commit, by the token of the host's connection. */
export const statusKind: MessageKind = {
  messagesOf,

  async prepare(services, message, turn) {
    const target = message.target as StatusTarget;
    const subjects = await listStatusBuilds(services.db, [message.buildId ?? ""]);
    const [published] = await listPublishedBuilds(services, subjects, turn);
    if (!published || published.target.connection.id !== message.connectionId || !isWanted(published, target))
      return undefined;
    const { restsUntil } = published.target.connection;
    if (restsUntil && restsUntil > services.clock.now())
      return { rest: restsUntil, problem: "The host takes no requests of the connection at present" };
    // Hosts show what they were told last: an older build that ends later must not hide a newer one.
    const { receiver } = message;
    const { context } = target;
    if (await findNewerStatus(services.db, published.subject.build, { receiver, context })) return undefined;
    const status = await statusOf(services, published, target);
    const { type, repository, requestOf } = published.target;
    return status && { request: requestOf(statusRequests[type](repository, status)), keepsBody: true };
  },

  judge: verdictOf,

  async answered(tx, { connectionId, organizationId, receiver }, answer) {
    if (connectionId === null) return;
    const meaning = meaningOf(answer, tx.now);
    if (meaning.type === "done")
      await mendConnectionIfFailing(tx, { id: connectionId, organizationId }, receiver);
    if (meaning.type === "slow_down") await restConnection(tx, connectionId, meaning.until);
    if (meaning.type === "refused")
      await failConnection(tx, connectionId, meaning.isToken ? inAnHour(tx.now) : null);
  },
};

/** The settings of the pipeline may have changed since the news. */
function isWanted({ settings }: PublishedBuild, { of, notice }: StatusTarget): boolean {
  if (notice) return true;
  return settings.publish_commit_status && (of === "build" || settings.publish_commit_status_per_step);
}

/** Reads the present state. Undefined: the step has none to show. */
async function statusOf(
  services: Services,
  published: PublishedBuild,
  target: StatusTarget,
): Promise<CommitStatus | undefined> {
  const { config, db } = services;
  const { build, pipeline, organization } = published.subject;
  const address = { org: organization.slug, slug: pipeline.slug, number: build.number };
  const { commit } = build;
  const { context, of, notice } = target;
  if (of === "build") {
    const blockedAsPending = notice?.blockedAsPending ?? published.settings.publish_blocked_as_pending;
    const url = web.build(config, address, build.number);
    return { commit, context, url, ...standingOfBuild(build, { blockedAsPending }) };
  }
  const jobs = (await listJobsOf(services, published, target)).filter((job) => job.retriedInJobId === null);
  const [first] = jobs;
  if (!first) return undefined;
  const standing = standingOfJobs(standingOfStep(jobs, await findPromising(db, jobs)), jobs);
  return standing && { commit, context, url: web.job(config, address, first.id), ...standing };
}

/** Jobs that share a status. Those of a matrix may have names of their own. */
async function listJobsOf(
  services: Services,
  published: PublishedBuild,
  { context, of, id = "", notice }: StatusTarget,
): Promise<Job[]> {
  const { db } = services;
  const buildId = published.subject.build.id;
  if (of === "group") return listJobsOfGroup(db, { buildId, groupId: id });
  const jobs = await listJobsOfStep(db, { buildId, stepId: id });
  if (!notice) return jobs.filter((job) => contextOfStep(services, published, job) === context);
  const one = jobs.find((job) => job.id === notice.jobId);
  return one ? jobs.filter(({ options }) => isDeepStrictEqual(options?.matrix, one.options?.matrix)) : jobs;
}

function verdictOf(answer: OutgoingAnswer, now: Date): Verdict {
  const meaning = meaningOf(answer, now);
  switch (meaning.type) {
    case "done":
      return { outcome: "sent" };
    case "slow_down":
      return { outcome: "receiver_rests", problem: meaning.problem, until: meaning.until };
    case "refused":
      return { outcome: "receiver_rests", problem: meaning.problem, until: inAnHour(now) };
    case "not_taken":
      return { outcome: "message_rests", problem: meaning.problem };
    case "faulty":
      return { outcome: "receiver_rests", problem: meaning.problem };
  }
}

function inAnHour(now: Date): Date {
  return new Date(now.getTime() + hourMs);
}
