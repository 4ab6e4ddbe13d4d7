import { Readable } from "node:stream";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Expected, Mismatch } from "../blobs.ts";
import { ContentCheck, inPieces } from "../expected-content.ts";
import { translated } from "./failures.ts";
import { type Bucket, inBucket } from "./object.ts";

class Mismatched extends Error {
  readonly mismatch: Mismatch;

  constructor(mismatch: Mismatch) {
    super("The content is not as expected");
    this.mismatch = mismatch;
  }
}

/**
 * Sends the last piece only once all of the content was compared: a request that ends early stores nothing.
 * @throws BlobsUnavailable; what the content throws
 */
export async function putObject(
  all: Bucket,
  name: string,
  content: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Mismatch | undefined> {
  const source = new AbortController();
  let failure: Error | undefined;
  const body = Readable.from(compared(content, expected), { objectMode: false });
  // The client does not notice that a body fails.
  body.once("error", (error) => {
    failure = error;
    source.abort();
  });
  const request = {
    ...inBucket(all, name),
    ContentType: "application/octet-stream",
    ContentLength: expected.bytes,
  };
  try {
    const Body = expected.bytes === 0 ? Buffer.concat(await body.toArray()) : body;
    await translated(() =>
      all.client.send(new PutObjectCommand({ ...request, Body }), { abortSignal: source.signal }),
    );
    return undefined;
  } catch (error) {
    if (failure instanceof Mismatched) return failure.mismatch;
    throw failure ?? error;
  } finally {
    body.destroy();
  }
}

async function* compared(content: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const check = new ContentCheck(expected);
  let last: Uint8Array | undefined;
  for await (const piece of inPieces(content)) {
    const mismatch = check.add(piece);
    if (mismatch) throw new Mismatched(mismatch);
    if (last) yield last;
    last = piece;
  }
  const mismatch = check.end();
  if (mismatch) throw new Mismatched(mismatch);
  if (last) yield last;
}
