import { readFileSync } from "node:fs";
import { and, eq } from "drizzle-orm";
import type { Db } from "../../../shared/db/database.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { visitor } from "../../scratch/visitor.ts";
import { answersOf } from "../installation/steps.ts";
import { between, pick } from "../random.ts";
import { type Attempt, visit } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { Unblock } from "./observed.ts";

/** One of so many is tried too early. */
const earlyOneIn = 5;

/** A manual job that nobody has unblocked. */
type Blocked = Awaited<ReturnType<typeof listBlocked>>[number];

/** Unblocks steps: over REST, at the page, and a third of them twice at once. A few are tried too early. */
export async function unblockSteps(lane: Lane, db: Db): Promise<void> {
  while (!lane.signal.aborted) {
    await lane.pause(between(lane.random, 100, 900));
    const isUnblockable = lane.random(earlyOneIn) > 0;
    const blocked = await listBlocked(db, isUnblockable).catch(() => []);
    if (blocked.length === 0) continue;
    const job = pick(lane.random, blocked);
    const people = lane.random(3) === 0 ? 2 : 1;
    await Promise.all(Array.from({ length: people }, () => unblock(lane, job)));
  }
}

/** Sends one request, with an answer that no other request has if the field takes any text. */
async function unblock(lane: Lane, job: Blocked): Promise<void> {
  const { unblocks } = lane.observed;
  const attempts: Attempt[] = [];
  const { key, values } = answersOf(job.label, unblocks.length);
  const value = pick(lane.random, values);
  const unknown = { isDone: undefined, answeredAt: undefined };
  const sent: Unblock = { jobId: job.id, value, attempts, sentAt: readUptime(), ...unknown };
  unblocks.push(sent);
  const send = lane.random(2) === 0 ? overRest : atPage;
  const status = await send(lane, job, { key, value }, attempts);
  sent.isDone = status === undefined || status >= 500 ? undefined : status === 200 || status === 303;
  sent.answeredAt = readUptime();
}

type Field = { key: string; value: string };

async function overRest(lane: Lane, job: Blocked, { key, value }: Field, attempts: Attempt[]) {
  const path = pathTo(patterns.unblockJobById, { org: lane.installation.organization.slug, job: job.id });
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ fields: { [key]: value } });
  return (await lane.send(path, { name: "unblock", method: "PUT", headers, body }, attempts)).status;
}

async function atPage(lane: Lane, job: Blocked, { key, value }: Field, attempts: Attempt[]) {
  const { slug: org, cookie } = lane.installation.organization;
  const { slug, number, id } = job;
  const path = pathTo(patterns.unblockJobPage, { org, slug, number: String(number), job: id });
  const url = lane.url();
  const go = async () => String((await visitor(url, cookie).post(path, { [`${id}.${key}`]: value })).status);
  return Number(await visit({ ...lane, attempts }, url, "unblock at the page", go)) || undefined;
}

function listBlocked(db: Db, unblockable: boolean) {
  const { builds, jobs, pipelines } = db.tables;
  return db
    .select({ id: jobs.id, label: jobs.ownLabel, number: builds.number, slug: pipelines.slug })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(eq(jobs.state, "blocked"), eq(jobs.type, "manual"), eq(jobs.unblockable, unblockable)));
}

/** Seconds since the machine's start, as commands write them down. */
function readUptime(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
}
