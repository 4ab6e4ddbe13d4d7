import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import type { InsideJob } from "../inside/find-job.ts";
import { AgentError } from "../terminal.ts";
import { CallFailed, describe } from "../wire/client.ts";
import { sendForm } from "../wire/files.ts";
import { announceArtifacts, reportArtifacts, type UploadInstructions } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { type FoundFile, findFiles } from "./find-files.ts";

const maxBatch = 30;
const maxUploads = 5;
/** Answers to a form after which another attempt cannot succeed. */
const finalStatuses = [404, 413, 422];

export interface Uploading {
  job: Omit<InsideJob, "stepId">;
  /** Where patterns without a `/` at the start begin. */
  folder: string;
  say: (line: string) => unknown;
  signal?: AbortSignal;
}

/**
 * Uploads the files that patterns match.
 * @throws AgentError with the paths of those that could not be
 */
export async function uploadFiles(patterns: string, { job, folder, say, signal }: Uploading): Promise<void> {
  const files = await findFiles(patterns, folder);
  await say(files.length === 0 ? `No file matches ${patterns}` : `Artifacts to upload: ${files.length}`);
  for (let at = 0; at < files.length; at += maxBatch)
    await uploadBatch(job, files.slice(at, at + maxBatch), signal);
}

/** The same id on each attempt: the server stores the batch once. */
async function uploadBatch(
  job: Omit<InsideJob, "stepId">,
  files: FoundFile[],
  signal: AbortSignal | undefined,
) {
  const options = { waitsMs: waits.artifacts, isRetryable: whenRetryable, signal };
  const batch = { id: randomUUID(), artifacts: files.map(toAnnouncement), upload_destination: "" };
  const { artifact_ids: ids, upload_instructions: instructions } = await retry(
    () => announceArtifacts(job.client, job.jobId, batch),
    options,
  ).catch(refuse);

  const failures: string[] = [];
  const reports: { id: string; state: "finished" | "error" }[] = [];
  const waiting = [...files.entries()];
  const uploadNext = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, file] = next;
      const failure = await uploadFile(file, instructions, signal).catch(describe);
      if (failure) failures.push(`${file.path}: ${failure}`);
      reports.push({ id: ids[index] ?? "", state: failure ? "error" : "finished" });
    }
  };
  await Promise.all(Array.from({ length: maxUploads }, uploadNext));
  await retry(() => reportArtifacts(job.client, job.jobId, reports), options).catch(refuse);
  if (failures.length > 0) throw new AgentError(`Not uploaded: ${failures.join("; ")}.`);
}

/** @returns undefined once the server has the file */
async function uploadFile(
  { path, absolutePath, bytes }: FoundFile,
  { data, action }: UploadInstructions,
  signal: AbortSignal | undefined,
): Promise<undefined> {
  const url = Object.assign(new URL(action.url), { pathname: action.path }).href;
  await retry(
    async () => {
      const form = new FormData();
      for (const [name, value] of Object.entries(data))
        form.append(
          name,
          value.replaceAll(`$\{artifact:path}`, () => path),
        );
      form.append(action.file_input, await openAsBlob(absolutePath), path);
      await sendForm(url, { method: action.method, form, bytes, signal });
    },
    { waitsMs: waits.artifacts, isRetryable: isWorthRepeating, signal },
  );
}

function isWorthRepeating(error: unknown): boolean {
  return error instanceof CallFailed && !finalStatuses.includes(error.status ?? 0);
}

function toAnnouncement({ path, absolutePath, pattern, bytes, sha1, sha256 }: FoundFile) {
  return {
    path,
    absolute_path: absolutePath,
    glob_path: pattern,
    file_size: bytes,
    sha1sum: sha1,
    sha256sum: sha256,
  };
}

function refuse(error: unknown): never {
  throw new AgentError(`The server did not take the artifacts: ${describe(error)}.`);
}
