import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openGatherer } from "../../sharing/gatherer.ts";
import type { Expected, Mismatch } from "../blobs.ts";
import { ContentCheck, inPieces } from "../expected-content.ts";

/** On the same file system as the blobs, so that a file can be renamed into its place. */
export const unfinishedFolder = "unfinished";

/**
 * Writes to a file of another name, syncs it, renames it and syncs the folder: after a crash the name has all of the
 * content or none.
 */
export async function writeFile(
  root: string,
  name: string,
  content: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Mismatch | undefined> {
  const unfinished = join(root, unfinishedFolder, randomUUID());
  const target = join(root, name);
  const file = await inFolder(dirname(unfinished), () => open(unfinished, "wx", 0o600));
  let isPlaced = false;
  try {
    const mismatch = await writeChecked(file, content, expected);
    if (mismatch) return mismatch;
    await inFolder(dirname(target), () => rename(unfinished, target));
    isPlaced = true;
    await folderSyncs.add(dirname(target));
    return undefined;
  } finally {
    if (!isPlaced) await rm(unfinished, { force: true });
  }
}

/** Does what needs a folder; makes the folder if it is missing. */
async function inFolder<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await makeFolder(path);
    return await work();
  }
}

async function writeChecked(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Mismatch | undefined> {
  const check = new ContentCheck(expected);
  try {
    for await (const piece of inPieces(content)) {
      if (check.add(piece)) return "size";
      await writeAll(file, piece);
    }
    const mismatch = check.end();
    if (!mismatch) await file.sync();
    return mismatch;
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

/** The folders that are new are on disk once this returns. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/**
 * Folders that wait are synced at once: their renames share a commit of the journal. One flush at a time, so that a sync
 * stores all renames in its folder of before, and few threads wait for a disk.
 */
const folderSyncs = openGatherer<string>({
  when: async () => {},
  keyOf: (path) => path,
  // No second try: it would succeed.
  flush: (paths) => Promise.all(paths.map((path) => syncFolder(path).catch((error) => error))),
});

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
