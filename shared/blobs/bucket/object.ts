import { HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { StoredBlob } from "../blobs.ts";
import { codeOf } from "./failures.ts";

/** Names become keys by the prefix. */
export interface Bucket {
  client: S3Client;
  bucket: string;
  prefix: string;
}

export function inBucket({ bucket, prefix }: Bucket, name: string) {
  return { Bucket: bucket, Key: prefix + name };
}

export async function find(all: Bucket, name: string): Promise<StoredBlob | undefined> {
  try {
    const { ContentLength, LastModified } = await all.client.send(new HeadObjectCommand(inBucket(all, name)));
    return { bytes: ContentLength ?? 0, storedAt: LastModified ?? new Date(0) };
  } catch (error) {
    if (codeOf(error) === "NotFound") return undefined;
    throw error;
  }
}
