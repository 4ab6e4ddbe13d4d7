import { hashToken, issueToken, isWellFormedToken } from "../../crypto/tokens.ts";
import type { Tx } from "../../db/database.ts";
import { hourMs } from "../../durations.ts";
import { putNewsOfBuilds } from "../../news/put.ts";
import { excerpt, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import type { Config } from "../../settings/config.ts";
import { stored } from "../../sharing/bounds.ts";
import { isStorable } from "../../validation.ts";
import { type Build, resolveCommitIfStill } from "../rows/build-store.ts";
import { isLeased } from "../rows/is-leased.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { buildTopics } from "../rows/topics.ts";
import {
  findJobOfToken,
  findMetaData,
  insertJobToken,
  listMetaDataKeys as listKeys,
  measureMetaData,
  putMetaData,
} from "./meta-data-store.ts";

/** Postgres refuses index keys over 2,704 bytes. */
const maxKeyBytes = 1024;
const maxValueBytes = 100 * 1024;
const maxTotal = stored.metaData.max;
/** SHA-1 or SHA-256. */
const fullCommit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isFullCommit(commit: string): boolean {
  return fullCommit.test(commit);
}

export interface Entry {
  key: string;
  value: string;
}

/** The job that a token acts for. */
export interface JobPrincipal {
  job: JobFacts;
  jobId: string;
  /** Null: the token is for reading by hand. */
  attempt: number | null;
  /** The agent of the job. */
  agentId: string | null;
  /** The attempt is the present one, and has not ended. */
  isLeased: boolean;
  readOnly: boolean;
  build: Build;
}

/** Issues a read-only token for reading a job's meta-data by hand. It expires after an hour. */
export async function issueReadingToken(services: Services, job: JobFacts): Promise<string> {
  const now = services.clock.now();
  const token = issueToken("job");
  await services.db.transaction((tx) =>
    insertJobToken(tx, {
      tokenHash: hashToken(token),
      jobId: job.id,
      attempt: null,
      readOnly: true,
      createdAt: now,
      expiresAt: new Date(now.getTime() + hourMs),
    }),
  );
  return token;
}

/** Undefined for anything but a valid job token. */
export async function findJobPrincipal(services: Services, token: string): Promise<JobPrincipal | undefined> {
  if (!isWellFormedToken("job", token)) return undefined;
  const found = await findJobOfToken(services.db, hashToken(token), services.clock.now());
  if (!found) return undefined;
  const { job, attempt, readOnly, build } = found;
  const { id: jobId, agentId } = job;
  const isOfPresent = attempt !== null && isLeased(job, { agentId, attempt });
  return { job, jobId, attempt, agentId, isLeased: isOfPresent, readOnly, build };
}

export async function hasMetaData(services: Services, buildId: string, key: string): Promise<boolean> {
  return isStorable(key) && (await findMetaData(services.db, buildId, key)) !== undefined;
}

/** @throws Refusal 404 */
export async function requireMetaData(services: Services, buildId: string, key: string): Promise<string> {
  const value = isStorable(key) ? await findMetaData(services.db, buildId, key) : undefined;
  if (value === undefined)
    throw new Refusal(404, `No meta-data found with the key ${JSON.stringify(excerpt(key))}`);
  return value;
}

export function listMetaDataKeys({ db }: Services, buildId: string): Promise<string[]> {
  return listKeys(db, buildId);
}

/**
 * Sets entries of a build's meta-data, all or none; the last write wins.
 * @param changeBuild runs a change in a transaction that has locked the build, and checked that the caller may change it
 * @throws Refusal 422
 */
export async function setMetaData(
  { config, events }: Services,
  entries: Entry[],
  changeBuild: (change: (tx: Tx, build: Build) => Promise<Build>) => Promise<Build>,
): Promise<void> {
  const problems = new Set(entries.flatMap((entry) => entryProblems(entry, config.serviceName)));
  if (problems.size > 0) throw new Refusal(422, [...problems].join(", "));

  const commit = findResolvedCommit(entries, commitKey(config));
  const build = await changeBuild(async (tx, build) => {
    await addMetaData(tx, build.id, entries);
    if (commit && !isFullCommit(build.commit)) {
      await resolveCommitIfStill(tx, build, commit);
      await putNewsOfBuilds(tx, [build], "build.changed");
    }
    return build;
  });
  if (commit && commit !== build.commit) events.publish(buildTopics(build, []));
}

/**
 * Sets sound entries of a build's meta-data; the last of a key wins. Call with the build locked.
 * @throws Refusal 422
 */
export async function addMetaData(tx: Tx, buildId: string, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const valueByKey = new Map(entries.map(({ key, value }) => [key, value]));
  const given = { keys: valueByKey.size, bytes: bytesOf(valueByKey) };
  const others = await measureMetaData(tx, [buildId], [...valueByKey.keys()]);
  if (others.keys + given.keys > maxTotal.keys || others.bytes + given.bytes > maxTotal.bytes)
    throw new Refusal(422, "The build would have more than 1,000 keys or 2 MB of meta-data");
  await putMetaData(
    tx,
    [...valueByKey].map(([key, value]) => ({ buildId, key, value })),
  );
}

function bytesOf(valueByKey: Map<string, string>): number {
  let bytes = 0;
  for (const [key, value] of valueByKey) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}

/** Agents say after a checkout what `HEAD` or a branch was: `commit <hash>` and more lines. */
function findResolvedCommit(entries: Entry[], gitKey: string): string | undefined {
  const value = entries.findLast(({ key }) => key === gitKey)?.value ?? "";
  const [, commit = ""] = /^commit (\w+)\r?(?:\n|$)/.exec(value) ?? [];
  return isFullCommit(commit) ? commit : undefined;
}

/** Agents say what they checked out by this key. */
function commitKey({ agentEnvPrefix }: Pick<Config, "agentEnvPrefix">): string {
  return `${agentEnvPrefix.toLowerCase()}:git:commit`;
}

/** Returns true if a job of the build has said what its commit is. */
export async function isCommitReported({ db, config }: Services, buildId: string): Promise<boolean> {
  return (await findMetaData(db, buildId, commitKey(config))) !== undefined;
}

/** The reasons why meta-data cannot have this entry. */
export function entryProblems({ key, value }: Entry, serviceName: string): string[] {
  const reservedKey = `${serviceName}:webhook`;
  const problems = [
    key === "" && "Key can't be blank",
    Buffer.byteLength(key) > maxKeyBytes && "Key is larger than 1,024 bytes",
    key === reservedKey && `The key ${reservedKey} is reserved`,
    Buffer.byteLength(value) > maxValueBytes && "Value is larger than 100 KB",
    !(isStorable(key) && isStorable(value)) && "Keys and values must be Unicode text without NUL",
  ];
  return problems.filter((problem) => problem !== false);
}
