import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { it } from "node:test";
import { artifactBlob, type Blobs, type Expected } from "../../shared/blobs/blobs.ts";
import { checkBlob, pieceBytes } from "../../shared/blobs/expected-content.ts";
import { newId } from "../../shared/ids.ts";

export const newName = () => artifactBlob(newId(new Date()));

const hexOf = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("hex");

export function expect(bytes: Uint8Array): Required<Expected> {
  return { bytes: bytes.length, sha1: hexOf("sha1", bytes), sha256: hexOf("sha256", bytes) };
}

export async function* chunks(bytes: Uint8Array, size = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function readAll(blobs: Blobs, name: string, range?: { from: number; to: number }) {
  const found = await blobs.read(name, range);
  assert.ok(found);
  const pieces: Uint8Array[] = [];
  for await (const piece of found.pieces) pieces.push(piece);
  assert.ok(pieces.every((piece) => piece.length <= pieceBytes));
  return { bytes: found.bytes, content: Buffer.concat(pieces) };
}

/** Promises of every store to its callers. */
export function itIsAStore(open: () => Blobs): void {
  for (const size of [0, 1, 100_000, 3_000_000])
    it(`gives ${size} bytes back as they came`, async () => {
      const [blobs, name, bytes] = [open(), newName(), randomBytes(size)];

      assert.equal(await blobs.write(name, chunks(bytes), expect(bytes)), undefined);

      assert.deepEqual(await readAll(blobs, name), { bytes: size, content: bytes });
      assert.equal((await blobs.find(name))?.bytes, size);
      assert.equal(await checkBlob(blobs, name, expect(bytes)), undefined);
    });

  for (const size of [1000, 40_000, pieceBytes, 1_000_000])
    it(`takes content in chunks of ${size} bytes`, async () => {
      const [blobs, name, bytes] = [open(), newName(), randomBytes(1_000_000)];

      assert.equal(await blobs.write(name, chunks(bytes, size), expect(bytes)), undefined);

      assert.deepEqual((await readAll(blobs, name)).content, bytes);
    });

  it("gives a range, both ends included", async () => {
    const [blobs, name, bytes] = [open(), newName(), randomBytes(200_000)];
    await blobs.write(name, chunks(bytes), expect(bytes));

    const first = await readAll(blobs, name, { from: 0, to: 0 });
    const middle = await readAll(blobs, name, { from: 65_000, to: 150_000 });

    assert.deepEqual(first, { bytes: 200_000, content: bytes.subarray(0, 1) });
    assert.deepEqual(middle, { bytes: 200_000, content: bytes.subarray(65_000, 150_001) });
  });

  const bytes = randomBytes(150_000);
  for (const [found, expected] of [
    ["size", { bytes: bytes.length - 1 }],
    ["size", { bytes: bytes.length + 1 }],
    ["size", { bytes: 0 }],
    ["sha1", { sha1: "0".repeat(40) }],
    ["sha256", { sha256: "0".repeat(64) }],
  ] as const)
    it(`stores nothing when ${JSON.stringify(expected)} was expected`, async () => {
      const [blobs, name] = [open(), newName()];

      assert.equal(await blobs.write(name, chunks(bytes), { ...expect(bytes), ...expected }), found);

      assert.equal(await blobs.read(name), undefined);
    });

  it("keeps the former content when new content is refused, and when its sender goes away", async () => {
    const [blobs, name] = [open(), newName()];
    await blobs.write(name, chunks(bytes), expect(bytes));
    async function* goesAway() {
      yield bytes.subarray(0, 100_000);
      throw new Error("gone");
    }

    assert.equal(await blobs.write(name, chunks(bytes), { ...expect(bytes), sha1: "0".repeat(40) }), "sha1");
    await assert.rejects(blobs.write(name, goesAway(), expect(bytes)), /gone/);

    assert.deepEqual((await readAll(blobs, name)).content, bytes);
  });

  it("needs no SHA-256", async () => {
    const [blobs, name] = [open(), newName()];

    assert.equal(await blobs.write(name, chunks(bytes), { ...expect(bytes), sha256: null }), undefined);
  });

  it("stores the same content twice at once", async () => {
    const [blobs, name] = [open(), newName()];

    const outcomes = await Promise.all([1, 2, 3].map(() => blobs.write(name, chunks(bytes), expect(bytes))));

    assert.deepEqual(outcomes, [undefined, undefined, undefined]);
    assert.deepEqual((await readAll(blobs, name)).content, bytes);
  });

  it("has nothing under a name after its deletion, and deletes nothing without an error", async () => {
    const [blobs, name, other] = [open(), newName(), newName()];
    await blobs.write(name, chunks(bytes), expect(bytes));
    await blobs.write(other, chunks(bytes), expect(bytes));

    await blobs.delete([name, newName()]);
    await blobs.delete([name]);
    await blobs.delete([]);

    assert.equal(await blobs.find(name), undefined);
    assert.equal(await blobs.read(name), undefined);
    assert.equal(await checkBlob(blobs, name, expect(bytes)), "missing");
    assert.ok(await blobs.find(other));
  });

  it("lists each name once, in order, page by page", async () => {
    const blobs = open();
    const names = Array.from({ length: 12 }, newName);
    for (const name of names)
      await blobs.write(name, chunks(bytes.subarray(0, 9)), expect(bytes.subarray(0, 9)));

    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await blobs.list({ after });
      listed.push(...page.names);
      after = page.next;
      if (after === undefined) break;
    }

    assert.deepEqual(listed, [...listed].sort());
    assert.equal(new Set(listed).size, listed.length);
    for (const name of names) assert.ok(listed.includes(name));
  });

  it("says when a blob was stored", async () => {
    const [blobs, name] = [open(), newName()];
    const before = Date.now();
    await blobs.write(name, chunks(bytes), expect(bytes));

    const { storedAt } = (await blobs.find(name)) ?? assert.fail();

    assert.ok(Math.abs(storedAt.getTime() - before) < 60_000);
  });
}
