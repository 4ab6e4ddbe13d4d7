import type { Blobs } from "./blobs.ts";
import { parseBucketUrl } from "./bucket/address.ts";
import { openLater } from "./bucket/later.ts";
import { openFiles } from "./files/files.ts";

/**
 * Asks nothing of the store yet: it need not be there.
 * @param url a checked BLOB_URL
 */
export function openBlobs(url: string): Blobs {
  return url.startsWith("file:") ? openFiles(url.slice("file:".length)) : openLater(parseBucketUrl(url));
}

/** Returns why operators cannot have this BLOB_URL. */
export function findBlobUrlProblem(url: string): string | undefined {
  if (/^file:.+$/.test(url)) return undefined;
  if (!url.startsWith("s3:")) return "must be file:<folder> or s3://<bucket>…";
  try {
    parseBucketUrl(url);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
