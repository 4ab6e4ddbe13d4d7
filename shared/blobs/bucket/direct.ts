import { setImmediate as nextTurn } from "node:timers/promises";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { hourMs, secondMs } from "../../durations.ts";
import type { DirectTransfers, SignedAnswer, UploadedPart } from "../blobs.ts";
import { codeOf, translated } from "./failures.ts";
import { type Bucket, find, inBucket } from "./object.ts";

/** Agents cut a file evenly. A bucket takes parts from 5 MB, but for the last one. */
const partBytes = 64 * 1024 ** 2;
const maxParts = 10_000;
/** The agent sends the parts of a batch one file after the other. */
const uploadSeconds = (6 * hourMs) / secondMs;

const refusals = new Set([
  "InvalidPart",
  "InvalidPartOrder",
  "EntityTooSmall",
  "InvalidRequest",
  "MalformedXML",
]);

export function openDirect(all: Bucket): DirectTransfers {
  return {
    beginUpload: (name, bytes) => translated(() => begin(all, name, bytes)),
    completeUpload: (name, uploadId, parts) => translated(() => complete(all, name, uploadId, parts)),
    abortUpload: (name, uploadId) => translated(() => abort(all, inBucket(all, name).Key, uploadId)),
    signDownload: (name, answer) => translated(() => signDownload(all, name, answer)),
  };
}

async function begin(all: Bucket, name: string, bytes: number) {
  const object = inBucket(all, name);
  const { UploadId: uploadId = "" } = await all.client.send(
    new CreateMultipartUploadCommand({ ...object, ContentType: "application/octet-stream" }),
  );
  const parts: { partNumber: number; url: string }[] = [];
  const count = Math.min(Math.max(Math.ceil(bytes / partBytes), 1), maxParts);
  for (let partNumber = 1; partNumber <= count; partNumber++) {
    const command = new UploadPartCommand({ ...object, UploadId: uploadId, PartNumber: partNumber });
    parts.push({ partNumber, url: await getSignedUrl(all.client, command, { expiresIn: uploadSeconds }) });
    await nextTurn(); // a signature costs more than it seems, and a large file has many parts
  }
  return { uploadId, parts };
}

async function complete(all: Bucket, name: string, uploadId: string, parts: UploadedPart[]) {
  const inOrder = parts.toSorted((a, b) => a.partNumber - b.partNumber);
  try {
    await all.client.send(
      new CompleteMultipartUploadCommand({
        ...inBucket(all, name),
        UploadId: uploadId,
        MultipartUpload: {
          Parts: inOrder.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag })),
        },
      }),
    );
    return "completed";
  } catch (error) {
    if (refusals.has(codeOf(error))) return "refused";
    if (codeOf(error) !== "NoSuchUpload") throw error;
    return (await find(all, name)) ? "completed" : "refused"; // an earlier call has done it
  }
}

/** @param key with the prefix */
export async function abort(all: Bucket, key: string, uploadId: string): Promise<void> {
  try {
    await all.client.send(
      new AbortMultipartUploadCommand({ Bucket: all.bucket, Key: key, UploadId: uploadId }),
    );
  } catch (error) {
    if (codeOf(error) !== "NoSuchUpload") throw error;
  }
}

function signDownload(all: Bucket, name: string, { seconds, contentType, contentDisposition }: SignedAnswer) {
  const command = new GetObjectCommand({
    ...inBucket(all, name),
    ResponseContentType: contentType,
    ResponseContentDisposition: contentDisposition,
  });
  return getSignedUrl(all.client, command, { expiresIn: seconds });
}
