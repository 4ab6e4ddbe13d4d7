import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
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
  await makeFolder(dirname(unfinished));
  await makeFolder(dirname(target));
  try {
    const mismatch = await writeChecked(unfinished, content, expected);
    if (mismatch) return mismatch;
    await rename(unfinished, target);
    await syncFolder(dirname(target));
    return undefined;
  } finally {
    await rm(unfinished, { force: true }); // gone, if it was renamed
  }
}

async function writeChecked(
  path: string,
  content: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Mismatch | undefined> {
  const check = new ContentCheck(expected);
  const file = await open(path, "wx", 0o600);
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

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
