import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import {
  type Blobs,
  BlobsUnavailable,
  type DirectTransfers,
  type DirectUpload,
} from "../../shared/blobs/blobs.ts";
import { checkBlob } from "../../shared/blobs/expected-content.ts";
import { openBlobs } from "../../shared/blobs/open.ts";
import { hourMs } from "../../shared/durations.ts";
import { chunks, expect, itIsAStore, newName, readAll } from "./contract.ts";
import { type S3Server, startS3 } from "./s3/server.ts";

describe("a store in a bucket", () => {
  let server: S3Server;
  let blobs: Blobs;
  let direct: DirectTransfers;
  before(async () => {
    server = await startS3();
    blobs = openBlobs(server.url);
    direct = blobs.direct ?? assert.fail();
  });
  after(async () => {
    await blobs.close();
    await server[Symbol.asyncDispose]();
  });
  const bytes = randomBytes(150_000);

  itIsAStore(() => blobs);

  const put = async (url: string, part: Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(url, { method: "PUT", body: part, headers: { "content-type": "text/plain" } });
    assert.equal(answer.status, 200, await answer.text());
    return answer.headers.get("etag") ?? assert.fail();
  };
  /** Cuts evenly, as the agent does. */
  const sendParts = async ({ parts }: DirectUpload, content: Uint8Array<ArrayBuffer>) => {
    const size = Math.ceil(content.length / parts.length);
    return Promise.all(
      parts.map(async ({ partNumber, url }) => ({
        partNumber,
        etag: await put(url, content.slice((partNumber - 1) * size, partNumber * size)),
      })),
    );
  };

  for (const size of [0, 1, 100_000, 70_000_000])
    it(`takes ${size} bytes in parts, at signed addresses, and gives them at one`, async () => {
      const [name, content] = [newName(), new Uint8Array(randomBytes(size))];

      const upload = await direct.beginUpload(name, size);
      const parts = await sendParts(upload, content);
      const outcome = await direct.completeUpload(name, upload.uploadId, parts.toReversed());

      assert.equal(upload.parts.length, size > 64 * 1024 ** 2 ? 2 : 1);
      assert.equal(outcome, "completed");
      assert.equal(await checkBlob(blobs, name, expect(content)), undefined);
      const url = await direct.signDownload(name, {
        seconds: 60,
        contentType: "application/octet-stream",
        contentDisposition: `attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt`,
      });
      const answer = await fetch(url);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), Buffer.from(content));
      assert.equal(answer.headers.get("content-type"), "application/octet-stream");
      assert.match(answer.headers.get("content-disposition") ?? "", /^attachment; filename="a b\.txt"/);
    });

  it("finds that the parts are not what was announced", async () => {
    const [name, content] = [newName(), new Uint8Array(bytes)];
    const upload = await direct.beginUpload(name, content.length);
    const parts = await sendParts(upload, content);
    await direct.completeUpload(name, upload.uploadId, parts);

    assert.equal(await checkBlob(blobs, name, { ...expect(content), bytes: 1 }), "size");
    assert.equal(await checkBlob(blobs, name, { ...expect(content), sha1: "0".repeat(40) }), "sha1");
  });

  it("completes an upload once, and answers the same to a repeat", async () => {
    const [name, content] = [newName(), new Uint8Array(bytes)];
    const upload = await direct.beginUpload(name, content.length);
    const parts = await sendParts(upload, content);

    assert.equal(await direct.completeUpload(name, upload.uploadId, parts), "completed");
    assert.equal(await direct.completeUpload(name, upload.uploadId, parts), "completed");

    assert.deepEqual((await readAll(blobs, name)).content, Buffer.from(content));
  });

  it("takes no part after an upload was completed or ended", async () => {
    for (const end of ["complete", "abort"] as const) {
      const [name, content] = [newName(), new Uint8Array(bytes)];
      const upload = await direct.beginUpload(name, content.length);
      const parts = await sendParts(upload, content);

      if (end === "complete") await direct.completeUpload(name, upload.uploadId, parts);
      else await direct.abortUpload(name, upload.uploadId);

      const late = await fetch(upload.parts[0]?.url ?? "", { method: "PUT", body: content });
      assert.equal(late.status, 404);
      await direct.abortUpload(name, upload.uploadId); // a second end is no error
    }
  });

  it("refuses an address whose signature was changed", async () => {
    const upload = await direct.beginUpload(newName(), 10);
    const url = upload.parts[0]?.url ?? "";

    const answer = await fetch(url.replace("partNumber=1", "partNumber=2"), {
      method: "PUT",
      body: "0123456789",
    });

    assert.equal(answer.status, 403);
    server.uploads.clear();
  });

  it("refuses parts that it did not get", async () => {
    const name = newName();
    const upload = await direct.beginUpload(name, 10);

    const refused = [
      await direct.completeUpload(name, upload.uploadId, [{ partNumber: 1, etag: '"0"' }]),
      await direct.completeUpload(name, upload.uploadId, []),
      await direct.completeUpload(name, "none", [{ partNumber: 1, etag: '"0"' }]),
    ];

    assert.deepEqual(refused, ["refused", "refused", "refused"]);
    await direct.abortUpload(name, upload.uploadId);
  });

  it("ends uploads in parts after an hour, unless their bytes are awaited", async () => {
    const [awaited, forgotten] = [newName(), newName()];
    const uploads = [await direct.beginUpload(awaited, 10), await direct.beginUpload(forgotten, 10)];
    const discard = (now: number) =>
      blobs.discardUnfinished({
        now: new Date(now),
        findAwaited: async (names) => new Set(names.filter((name) => name === awaited)),
      });

    await discard(Date.now());
    const kept = [...server.uploads.keys()];
    await discard(Date.now() + hourMs + 1000);

    for (const { uploadId } of uploads) assert.ok(kept.includes(uploadId));
    assert.deepEqual([...server.uploads.keys()], [uploads[0]?.uploadId]);
    await direct.abortUpload(awaited, uploads[0]?.uploadId ?? "");
  });

  it("is unavailable with a bucket that is not there, and without a server", async () => {
    const wrong = server.url.replace("artifacts-of-tests", "another-bucket");
    const away = server.url.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1");
    for (const url of [wrong, away]) {
      const other = openBlobs(url);
      await assert.rejects(other.write(newName(), chunks(bytes), expect(bytes)), BlobsUnavailable);
      await assert.rejects(other.list({}), BlobsUnavailable);
      await other.close();
    }
  });

  it("keeps blobs of two prefixes apart", async () => {
    const other = openBlobs(server.url.replace("some/prefix", "another"));
    const name = newName();
    await blobs.write(name, chunks(bytes), expect(bytes));

    assert.equal(await other.find(name), undefined);
    assert.deepEqual((await other.list({})).names, []);
    await other.close();
  });
});
