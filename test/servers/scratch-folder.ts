import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const memoryFolder = "/dev/shm";

/** Deletes the folder when `opened` is disposed of. */
export function makeScratchFolder(
  purpose: string,
  opened: AsyncDisposableStack,
  parent: string = tmpdir(),
): string {
  const folder = mkdtempSync(join(parent, `signalbox-test-${purpose}-`));
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Linux keeps what is in it in memory. Undefined without this much room. */
export function findMemoryFolder(bytes: number): string | undefined {
  if (!existsSync(memoryFolder)) return undefined;
  const { bavail, bsize } = statfsSync(memoryFolder);
  return Math.min(bavail * bsize, freemem()) >= bytes ? memoryFolder : undefined;
}
