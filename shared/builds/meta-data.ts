import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import { hourMs } from "../durations.ts";
import { excerpt, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import { isStorable } from "../validation.ts";
import {
  findJobOfToken,
  findMetaData,
  insertJobToken,
  listMetaData,
  putMetaData,
} from "./meta-data-store.ts";
import type { Build, Job } from "./store.ts";

const maxKeyLength = 1024;
const maxValueBytes = 100 * 1024;

/** The job that a token acts for. */
export interface JobPrincipal {
  jobId: string;
  readOnly: boolean;
  build: Build;
}

/** Issues a read-only token for reading a job's meta-data by hand. It expires after an hour. */
export async function issueReadingToken(services: Services, job: Job): Promise<string> {
  const now = services.clock.now();
  const token = issueToken("job");
  await services.db.transaction((tx) =>
    insertJobToken(tx, {
      tokenHash: hashToken(token),
      jobId: job.id,
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
  return findJobOfToken(services.db, hashToken(token), services.clock.now());
}

/** @throws Refusal 404 */
export async function requireMetaData(services: Services, buildId: string, key: string): Promise<string> {
  const value = isStorable(key) ? await findMetaData(services.db, buildId, key) : undefined;
  if (value === undefined)
    throw new Refusal(404, `No meta-data found with the key ${JSON.stringify(excerpt(key))}`);
  return value;
}

export async function listMetaDataKeys(services: Services, buildId: string): Promise<string[]> {
  const rows = await listMetaData(services.db, [buildId]);
  return rows.map((row) => row.key);
}

/**
 * Sets one entry of a build's meta-data; the last write wins.
 * @throws Refusal 403 for a read-only token, 422
 */
export async function setMetaData(
  services: Services,
  principal: JobPrincipal,
  entry: { key: string; value: string },
): Promise<void> {
  if (principal.readOnly) throw new Refusal(403, "This token can only read meta-data");
  const problems = entryProblems(entry, `${services.config.serviceName}:webhook`);
  if (problems.length > 0) throw new Refusal(422, problems.join(", "));
  await services.db.transaction((tx) => putMetaData(tx, { buildId: principal.build.id, ...entry }));
}

function entryProblems({ key, value }: { key: string; value: string }, reservedKey: string): string[] {
  const problems = [
    key === "" && "Key can't be blank",
    key.length > maxKeyLength && `Key is too long (maximum is ${maxKeyLength} characters)`,
    key === reservedKey && `The key ${reservedKey} is reserved`,
    Buffer.byteLength(value) > maxValueBytes && "Value is larger than 100 KB",
    !(isStorable(key) && isStorable(value)) && "Keys and values must be Unicode text without NUL",
  ];
  return problems.filter((problem) => problem !== false);
}
