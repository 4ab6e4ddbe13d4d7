import { readFileSync } from "node:fs";
import { and, eq } from "drizzle-orm";
import type { Db } from "../../../shared/db/database.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { visitor } from "../../scratch/visitor.ts";
import { answersOf } from "../installation/steps.ts";
import { between, pick } from "../random.ts";
import { type Attempt, call, visit } from "./call.ts";
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
export async function unblock(lane: Lane, job: Blocked): Promise<void> {
  const { unblocks } = lane.observed;
  const attempts: Attempt[] = [];
  const { key, values } = answersOf(job.label, unblocks.length);
  const value = pick(lane.random, values);
  const sent: Unblock = {
    ...{ jobId: job.id, value, attempts, isDone: undefined },
    ...{ sentAt: readUptime(), answeredAt: undefined },
  };
  unblocks.push(sent);
  const send = lane.random(2) === 0 ? overRest : atPage;
  sent.isDone = await send(lane, { job, attempts, key, value });
  sent.answeredAt = readUptime();
}

interface Sending {
  job: Blocked;
  attempts: Attempt[];
  key: string;
  value: string;
}

/** @returns undefined: unknown */
async function overRest(lane: Lane, { job, attempts, key, value }: Sending): Promise<boolean | undefined> {
  const { slug: org, apiToken } = lane.installation.organization;
  const headers = { Authorization: `Bearer ${apiToken}`, "Content-Type": "application/json" };
  const path = pathTo(patterns.unblockJobById, { org, job: job.id });
  const { status } = await call({ ...lane, attempts }, lane.url() + path, {
    ...{ name: "unblock", method: "PUT", headers },
    body: JSON.stringify({ fields: { [key]: value } }),
  });
  return status === undefined || status >= 500 ? undefined : status === 200;
}

async function atPage(lane: Lane, { job, attempts, key, value }: Sending): Promise<boolean | undefined> {
  const { slug: org, cookie } = lane.installation.organization;
  const { slug, number, id } = job;
  const path = pathTo(patterns.unblockJobPage, { org, slug, number: String(number), job: id });
  const url = lane.url();
  const answer = await visit({ ...lane, attempts }, url, "unblock at the page", async () => {
    const { status } = await visitor(url, cookie).post(path, { [`${id}.${key}`]: value });
    return String(status);
  });
  const status = Number(answer);
  return Number.isNaN(status) || status >= 500 ? undefined : status === 303;
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
