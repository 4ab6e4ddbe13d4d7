import type { Blobs } from "./blobs.ts";
import { openFiles } from "./files/files.ts";

/**
 * Asks nothing of the store yet: it need not be there.
 * @param url a checked BLOB_URL
 */
export function openBlobs(url: string): Blobs {
  return openFiles(url.slice("file:".length));
}
