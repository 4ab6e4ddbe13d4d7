import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { NoRoomForBlob } from "../blobs.ts";

/** Uploads leave this much of the disk to the database, which may be on the same: a part of it, and at most so many bytes. */
const reservedShare = 0.05;
const maxReservedBytes = 1024 ** 3;

/** Refuses what the disk has no room for before it is written. */
export function openRoom(root: string) {
  /** The sizes of this process's uploads. Bytes that are written count twice, as the disk has less room by them too. */
  let promisedBytes = 0;

  return {
    /** @throws NoRoomForBlob */
    async use<T>(bytes: number, work: () => Promise<T>): Promise<T> {
      promisedBytes += bytes;
      try {
        await requireRoom(root, promisedBytes);
        return await work();
      } finally {
        promisedBytes -= bytes;
      }
    },
  };
}

/** @throws NoRoomForBlob */
async function requireRoom(root: string, neededBytes: number): Promise<void> {
  const { bsize, blocks, bavail } = await statfs(await existing(root));
  const reserved = Math.min(blocks * bsize * reservedShare, maxReservedBytes);
  if (bavail * bsize - neededBytes < reserved) throw new NoRoomForBlob(`The disk of ${root} is full`);
}

/** The folder may not be there before the first write. */
async function existing(path: string): Promise<string> {
  try {
    await statfs(path);
    return path;
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
    return existing(parent);
  }
}
