import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Deletes the folder when `opened` is disposed of. */
export function makeScratchFolder(purpose: string, opened: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), `signalbox-test-${purpose}-`));
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
