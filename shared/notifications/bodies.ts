import { findOrganizationById, type Organization } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import { listAgentsById } from "../agents/list-store.ts";
import { measureMetaData } from "../builds/meta-data/meta-data-store.ts";
import { type AnsweredJob, listAnsweredJobs } from "../builds/reading/answer-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { findBuildById } from "../builds/triggered/store.ts";
import type { MessageTurn } from "../outbox/turn.ts";
import {
  listLargeUnparsedPipelines,
  listPipelineSizes,
  listUnparsedPipelines,
} from "../pipelines/answer-store.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import { presentAgents } from "../presenters/load-agents.ts";
import { type PresentedBuild, presentReadBuilds } from "../presenters/load-builds.ts";
import { jobPresenter } from "../presenters/load-jobs.ts";
import { presentOrganization } from "../presenters/organization.ts";
import { writePipeline } from "../presenters/pipeline.ts";
import { loadProviders } from "../presenters/provider.ts";
import type { Services } from "../services/services.ts";
import { findRetrier } from "./retrier-store.ts";
import type { NotificationService } from "./store.ts";

/** The subject of a request. */
export interface Subject {
  event: string;
  buildId: string | null;
  jobId: string | null;
  agentId: string | null;
}

interface Sender {
  id: string;
  name: string;
}

/** Larger pipelines are read off the event loop, for each message anew. */
const maxSharedBytes = 64 * 1024;

/** A body in parts of JSON, by member. */
type Members = [name: string, json: string][];

/**
 * Writes the body of a webhook from the present rows: a build may be further than its event says.
 * @returns undefined if what it tells of was deleted
 */
export async function writeBody(
  services: Services,
  {
    organization,
    service,
    subject,
  }: { organization: Organization; service: NotificationService; subject: Subject },
  turn: MessageTurn,
): Promise<string | undefined> {
  const members = await membersOf({ services, organization, turn }, service, subject);
  return members && join(subject, members, await senderOf(services, service, turn));
}

/** Whose bodies are written, and what they have in common. */
interface Writing {
  services: Services;
  organization: Organization;
  turn: MessageTurn;
}

/** As `writeBody`, of a build that no service told of. Its sender made the build, or the pipeline. */
export async function writeBodyOfBuild(
  services: Services,
  { id: buildId, organizationId, pipelineId, creatorId }: Build,
  event: string,
  turn: MessageTurn,
): Promise<string | undefined> {
  const organization = await findOrganizationById(services.db, organizationId);
  const pipeline = await findPipelineFactsById(services.db, { id: pipelineId });
  if (!organization || !pipeline) return undefined;
  const subject = { event, buildId, jobId: null, agentId: null };
  const members = await ofBuild({ services, organization, turn }, buildId, subject);
  const createdById = creatorId ?? pipeline.createdById;
  return members && join(subject, members, await senderOf(services, { createdById }, turn));
}

function join({ event }: Subject, members: Members, sender: Sender): string {
  const all: Members = [
    ["event", JSON.stringify(eventNameOf(event))],
    ...members,
    ["sender", JSON.stringify(sender)],
  ];
  return `{${all.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/** The event as receivers know it: a build that is blocked has finished, until somebody unblocks it. */
export function eventNameOf(event: string): string {
  return event === "build.blocked" ? "build.finished" : event;
}

async function membersOf(
  writing: Writing,
  service: NotificationService,
  subject: Subject,
): Promise<Members | undefined> {
  const { services, organization } = writing;
  if (subject.agentId !== null) return ofAgent(services, organization, subject.agentId);
  if (subject.buildId !== null) return ofBuild(writing, subject.buildId, subject);
  return ofPing(services, organization, service);
}

function ofPing(services: Services, organization: Organization, service: NotificationService): Members {
  const { id, provider, settings } = service;
  const url = settings?.url;
  return [
    ["service", JSON.stringify({ id, provider, settings: { url } })],
    ["organization", JSON.stringify(presentOrganization(services.config, organization))],
  ];
}

async function ofAgent(
  services: Services,
  organization: Organization,
  id: string,
): Promise<Members | undefined> {
  const agent = (await listAgentsById(services.db, [id])).get(id);
  if (!agent) return undefined;
  const [presented] = await presentAgents(services, organization, [agent]);
  return [["agent", JSON.stringify(presented)]];
}

async function ofBuild(
  writing: Writing,
  buildId: string,
  { event, jobId }: Subject,
): Promise<Members | undefined> {
  const { services, organization } = writing;
  const { db } = services;
  const found = await findWithPipeline(writing, buildId);
  if (!found) return undefined;
  const { head, pipeline } = found;
  const [job] = jobId === null ? [] : await listAnsweredJobs(db, { ids: [jobId] });
  if (jobId !== null && !job) return undefined;
  const ofJob: Members = job ? [["job", await writeJob(services, organization, head, job)]] : [];
  // Agents promise a status without a reason.
  const reason: Members =
    event === "job.promised_exit_status" ? [["promised_exit_status_reason", "null"]] : [];
  return [...ofJob, ["build", JSON.stringify(head.members)], ["pipeline", pipeline], ...reason];
}

async function writeJob(
  services: Services,
  organization: Organization,
  head: PresentedBuild,
  job: AnsweredJob,
): Promise<string> {
  const present = await jobPresenter(services, organization, [{ head, jobs: [job] }]);
  const { retry_source, ...members } = present(job, head);
  const retriedBy = retry_source && (await findRetrier(services.db, retry_source.job_id));
  const source = retry_source && { ...retry_source, retried_by: retriedBy ?? null };
  return JSON.stringify({ ...members, retry_source: source });
}

/** A build without its pipeline, which stands beside it, and without its jobs. */
async function findWithPipeline(
  { services, organization, turn }: Writing,
  buildId: string,
): Promise<{ head: PresentedBuild; pipeline: string } | undefined> {
  const { db } = services;
  const build = await findBuildById(db, buildId);
  if (!build) return undefined;
  const { pipelineId } = build;
  const ids = [pipelineId];
  const [size] = await turn.share(`size ${pipelineId}`, async () => listPipelineSizes(db, { ids }));
  if (!size) return undefined;
  const { bytes } = await measureMetaData(db, [buildId]);
  await turn.hold(size.bytes + bytes);
  const write = (list: typeof listLargeUnparsedPipelines) =>
    writePipelineOf(services, organization, ids, list);
  const pipeline = await (size.bytes > maxSharedBytes
    ? write(listLargeUnparsedPipelines)
    : turn.share(`pipeline ${pipelineId}`, () => write(listUnparsedPipelines)));
  const heads = await presentReadBuilds(services, organization, [build], () => size.slug);
  const head = heads.get(buildId);
  return pipeline === undefined || !head ? undefined : { head, pipeline };
}

/** @returns its JSON. Undefined: it was deleted */
async function writePipelineOf(
  services: Services,
  organization: Organization,
  ids: string[],
  list: typeof listLargeUnparsedPipelines,
): Promise<string | undefined> {
  const { db, config, cipher } = services;
  const [pipeline] = await list(db, { ids });
  if (!pipeline) return undefined;
  const users = await listUsersById(db, [pipeline.createdById]);
  // Somebody who knows the address of its webhook can make builds: no receiver gets it.
  const providers = await loadProviders(services, organization.id, []);
  return (await writePipeline({ config, cipher, users, providers }, organization, pipeline)).join("");
}

function senderOf(
  { db }: Services,
  { createdById: id }: { createdById: string },
  turn: MessageTurn,
): Promise<Sender> {
  return turn.share(`sender ${id}`, async () => {
    const user = (await listUsersById(db, [id])).get(id);
    return { id, name: user?.name ?? "" };
  });
}
