import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { presentOwner } from "../../sharing/owner.ts";
import { NoRoomForBlob } from "../blobs.ts";

/** Uploads leave this much of the disk to the database, which may be on the same: a part of it, and at most so many bytes. */
const reservedShare = 0.05;
const maxReservedBytes = 1024 ** 3;
/** An upload reserves this much ahead of what has come. By its whole size, a few slow ones would take all of the disk. */
const stepBytes = 2 * 1024 ** 2;
/** The uploads of an owner reserve at most this much together. */
const maxBytesOfOwner = 64 * 1024 ** 2;

interface Upload {
  owner: string | undefined;
  name: string;
  /** Reserved and not written yet. */
  aheadBytes: number;
}

/** Refuses what the disk has no room for before it is written. @param findFree of the disk of a folder */
export function openRoom(root: string, findFree = freeBytes) {
  const uploads = new Set<Upload>();

  /** @throws NoRoomForBlob */
  const requireRoom = async (bytes: number) => {
    if ((await findFree(root)) - reservedBytes(uploads) < bytes)
      throw new NoRoomForBlob(`The disk of ${root} is full`);
  };

  return {
    /**
     * Gives the content on as far as there is room for it. `bytes` are its declared size: what cannot fit now is
     * refused before it is read.
     * @throws NoRoomForBlob, also from the content
     */
    async use<T>(
      { name, bytes }: { name: string; bytes: number },
      content: AsyncIterable<Uint8Array>,
      work: (content: AsyncIterable<Uint8Array>) => Promise<T>,
    ): Promise<T> {
      const upload: Upload = { owner: presentOwner(), name, aheadBytes: 0 };
      uploads.add(upload);
      try {
        if (bytes <= stepBytes) upload.aheadBytes = bytes; // all of it: no further check
        await requireRoom(bytes - upload.aheadBytes);
        return await work(inSteps(upload, content, bytes, requireRoom));
      } finally {
        uploads.delete(upload);
      }
    },
  };
}

async function* inSteps(
  upload: Upload,
  content: AsyncIterable<Uint8Array>,
  bytes: number,
  requireRoom: (bytes: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of content) {
    if (piece.length > upload.aheadBytes) {
      upload.aheadBytes = Math.max(piece.length, Math.min(stepBytes, left));
      await requireRoom(0);
    }
    yield piece;
    upload.aheadBytes -= piece.length;
    left -= piece.length;
  }
}

/** Simultaneous uploads of one name count once. */
function reservedBytes(uploads: Iterable<Upload>): number {
  const owners = new Map<string | undefined, Map<string, number>>();
  for (const { owner, name, aheadBytes } of uploads) {
    const names = owners.get(owner) ?? new Map<string, number>();
    owners.set(owner, names.set(name, Math.max(names.get(name) ?? 0, aheadBytes)));
  }
  let sum = 0;
  for (const names of owners.values())
    sum += Math.min(
      maxBytesOfOwner,
      [...names.values()].reduce((total, each) => total + each, 0),
    );
  return sum;
}

/** Without what is left to the database. */
async function freeBytes(root: string): Promise<number> {
  const { bsize, blocks, bavail } = await statfsOf(root);
  return bavail * bsize - Math.min(blocks * bsize * reservedShare, maxReservedBytes);
}

/** The folder may not be there before the first write. */
async function statfsOf(path: string): Promise<StatsFs> {
  try {
    return await statfs(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
    return statfsOf(parent);
  }
}
