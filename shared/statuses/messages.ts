import { type Job, listJobsById } from "../builds/rows/job-store.ts";
import type { Tx } from "../db/database.ts";
import { type News, subjectsOf } from "../news/store.ts";
import type { NewMessage } from "../outbox/kind.ts";
import type { Services } from "../services/services.ts";
import { messagesOfNotices } from "./from-notices.ts";
import { listAnnouncedJobs, listStatusBuilds } from "./store.ts";
import { contextOf, contextOfStep, listPublishedBuilds, messageOf, type PublishedBuild } from "./target.ts";

/** Of a build whose commit became known after they began: the statuses of so many steps follow. */
const maxJobsAtOnce = 500;

/** Makes messages of news: a status of the build, of each step where the pipeline wants that, and what `notify` asks for. */
export async function messagesOf(tx: Tx, services: Services, news: News[]): Promise<NewMessage[]> {
  const published = await findPublishedBuilds(tx, services, news);
  const jobs = await listJobsById(tx, jobsToRead(news, published));
  const messages: NewMessage[] = [];
  for (const { event, buildId, jobId } of news) {
    const about = published.get(buildId ?? "");
    if (!about?.settings.publish_commit_status) continue;
    if (jobId === null)
      messages.push(messageOf(about, event, { context: contextOf(services, about), of: "build" }));
    if (!about.settings.publish_commit_status_per_step) continue;
    const own = jobId === null ? await jobsAtOnce(tx, event, about) : [jobs.get(jobId)];
    for (const job of own) if (job && hasStatus(job)) messages.push(ofStep(services, about, event, job));
  }
  return [...messages, ...(await messagesOfNotices(tx, services, news, published))];
}

async function findPublishedBuilds(
  tx: Tx,
  services: Services,
  news: News[],
): Promise<Map<string, PublishedBuild>> {
  const subjects = await listStatusBuilds(tx, subjectsOf(news, "buildId"));
  const published: PublishedBuild[] = [];
  for (const ofPipeline of Map.groupBy(subjects, ({ pipeline }) => pipeline.id).values())
    published.push(...(await listPublishedBuilds({ cipher: services.cipher, db: tx }, ofPipeline)));
  return new Map(published.map((each) => [each.subject.build.id, each]));
}

function jobsToRead(news: News[], published: Map<string, PublishedBuild>): string[] {
  const isByStep = (buildId: string | null) =>
    published.get(buildId ?? "")?.settings.publish_commit_status_per_step === true;
  return subjectsOf(
    news.filter(({ buildId }) => isByStep(buildId)),
    "jobId",
  );
}

/** Jobs began while nobody knew the commit: it has become a full hash. */
async function jobsAtOnce(tx: Tx, event: string, { subject }: PublishedBuild): Promise<Job[]> {
  return event === "build.changed" ? listAnnouncedJobs(tx, subject.build.id, maxJobsAtOnce) : [];
}

/** Waits and steps for people have none. */
function hasStatus({ type }: Job): boolean {
  return type === "script" || type === "trigger";
}

function ofStep(services: Services, published: PublishedBuild, event: string, job: Job): NewMessage {
  const context = contextOfStep(services, published, job);
  return messageOf(published, event, { context, of: "step", id: job.stepId }, job.id);
}
