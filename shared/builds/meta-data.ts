import { excerpt, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import { isStorable } from "../validation.ts";
import type { JobPrincipal } from "./job-tokens.ts";
import { findMetaData, listMetaData, putMetaData } from "./meta-data-store.ts";

const maxKeyLength = 1024;
const maxValueBytes = 100 * 1024;

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
 * Set one entry of a build's meta-data; the last write wins.
 * @throws Refusal 403 for a token that may only read, 422 for a key or value that cannot be kept
 */
export async function setMetaData(
  services: Services,
  principal: JobPrincipal,
  entry: { key: string; value: string },
): Promise<void> {
  if (principal.readOnly) throw new Refusal(403, "This token can only read meta-data");
  const problem = entryProblem(entry, `${services.config.serviceName}:`);
  if (problem) throw new Refusal(422, problem);
  await services.db.transaction((tx) => putMetaData(tx, { buildId: principal.build.id, ...entry }));
}

function entryProblem(
  { key, value }: { key: string; value: string },
  reservedPrefix: string,
): string | undefined {
  if (key === "") return "Key can't be blank";
  if (key.length > maxKeyLength) return `Key is too long (maximum is ${maxKeyLength} characters)`;
  if (key.startsWith(reservedPrefix)) return `Keys starting with ${reservedPrefix} are reserved`;
  if (Buffer.byteLength(value) > maxValueBytes) return "Value is larger than 100 KB";
  if (!isStorable(key) || !isStorable(value)) return "Keys and values must be Unicode text without NUL";
  return undefined;
}
