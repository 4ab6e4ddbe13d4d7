import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { secondMs } from "../../durations.ts";
import { type BlobContent, type Blobs, BlobsUnavailable, type ByteRange } from "../blobs.ts";
import { inPieces } from "../expected-content.ts";
import { type BucketAddress, placeOf } from "./address.ts";
import { openDirect } from "./direct.ts";
import { translated } from "./failures.ts";
import { type Bucket, find, inBucket } from "./object.ts";
import { discardUploads } from "./unfinished.ts";
import { putObject } from "./write.ts";

const maxNames = 1000;
const deletionsAtOnce = 8;
const maxConnections = 200;

const ignore = () => undefined;
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Credentials are those of the environment, as AWS' own programs find them. */
export function openBucket(address: BucketAddress): Blobs {
  const { endpoint, region, bucket, prefix } = address;
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Servers of others refuse checksums that are not asked for.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    logger: silent, // failures are thrown, and logged where they are handled
    requestHandler: {
      connectionTimeout: 5 * secondMs,
      socketTimeout: 30 * secondMs,
      httpAgent: { maxSockets: maxConnections },
      httpsAgent: { maxSockets: maxConnections },
    },
  });
  const all: Bucket = { client, bucket, prefix };
  return {
    kind: "bucket",
    place: placeOf(address),
    direct: address.isDirect ? openDirect(all) : undefined,
    write: (name, content, expected) => putObject(all, name, content, expected),
    read: (name, range) => read(all, name, range),
    find: (name) => translated(() => find(all, name)),
    delete: (names) => translated(() => deleteAll(all, names)),
    list: ({ after }) => translated(() => list(all, after)),
    discardUnfinished: (unfinished) => translated(() => discardUploads(all, unfinished)),
    close: async () => client.destroy(),
  };
}

async function read(all: Bucket, name: string, range?: ByteRange): Promise<BlobContent | undefined> {
  const found = await translated(() => find(all, name));
  return (
    found && { bytes: found.bytes, pieces: piecesOf(all, name, range ?? { from: 0, to: found.bytes - 1 }) }
  );
}

async function* piecesOf(all: Bucket, name: string, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  if (to < from) return;
  const { Body } = await translated(() =>
    all.client.send(new GetObjectCommand({ ...inBucket(all, name), Range: `bytes=${from}-${to}` })),
  );
  const pieces = inPieces(Body as AsyncIterable<Uint8Array>);
  let left = to + 1 - from;
  try {
    for (;;) {
      const { done, value } = await translated(() => pieces.next());
      if (done) break;
      left -= value.length;
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
  if (left !== 0) throw new BlobsUnavailable(`The bucket did not send all of ${name}`);
}

/** One by one: servers differ in the checksum that they want for many at once. */
async function deleteAll(all: Bucket, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += deletionsAtOnce)
    await Promise.all(
      names
        .slice(at, at + deletionsAtOnce)
        .map((name) => all.client.send(new DeleteObjectCommand(inBucket(all, name)))),
    );
}

async function list(all: Bucket, after?: string): Promise<{ names: string[]; next: string | undefined }> {
  const { bucket, prefix } = all;
  const { Contents = [], IsTruncated } = await all.client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: maxNames,
      ...(after !== undefined && { StartAfter: prefix + after }),
    }),
  );
  const names = Contents.map(({ Key = "" }) => Key.slice(prefix.length));
  return { names, next: IsTruncated ? names.at(-1) : undefined };
}
