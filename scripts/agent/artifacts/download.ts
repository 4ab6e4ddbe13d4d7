import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AgentError } from "../terminal.ts";
import { describe } from "../wire/client.ts";
import { fetchFile } from "../wire/files.ts";
import type { FoundArtifact } from "../wire/requests.ts";
import { onAnyError, retry, waits } from "../wire/retry.ts";
import { measure, placeBelow } from "./find-files.ts";

/**
 * Downloads artifacts below a folder, each to its path, or one to a file.
 * @throws AgentError
 */
export async function downloadFiles(found: FoundArtifact[], destination: string): Promise<void> {
  const isFolder = /[\\/]$/.test(destination) || found.length > 1 || (await isDirectory(destination));
  for (const artifact of found) {
    const [folder, path] = isFolder
      ? [destination, artifact.path]
      : [dirname(destination), basename(destination)];
    const place = placeBelow(folder, path);
    if (!place) throw new AgentError(`The path ${artifact.path} leads out of ${destination}.`);
    await retry(() => download(artifact, place), { waitsMs: waits.artifacts, isRetryable: onAnyError }).catch(
      (error: unknown) => {
        throw new AgentError(`${artifact.path} was not downloaded: ${describe(error)}.`);
      },
    );
  }
}

/** Until all bytes are there and are those that were uploaded, the place has what it had before. */
async function download({ url, file_size: bytes, sha1sum }: FoundArtifact, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  const unfinished = `${place}.${randomUUID()}.part`;
  try {
    await fetchFile(url, { place: unfinished, bytes });
    const { sha1 } = await measure(unfinished);
    if (sha1 !== sha1sum) throw new Error(`its SHA-1 is ${sha1}, not ${sha1sum}`);
    await rename(unfinished, place);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
