import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import {
  decodeBody,
  decodeBodySync,
  encodeBody,
  encodeBodyInThread,
  encodeBodySync,
} from "../../../shared/triggers/payloads/codec.ts";

const text = (length: number) => Buffer.alloc(length, "one line of text, and another one\n");

describe("the codec of payloads", () => {
  it("gives back every body byte for byte", async () => {
    const kinds = [text, (length: number) => Buffer.alloc(length, 0), randomBytes];
    for (const length of [0, 1, 4095, 4096, 4097, 20_000, 65_536, 3_000_000]) {
      for (const body of kinds.map((kind) => kind(length))) {
        const encoded = await encodeBody(body);
        assert.deepEqual(encodeBodySync(body), encoded);
        assert.deepEqual(encodeBodyInThread(Buffer.concat([body])), encoded);
        assert.equal(encoded.size, length);
        assert.ok((await decodeBody(encoded)).equals(body));
        assert.ok(decodeBodySync(encoded).equals(body));
      }
    }
  });

  it("deflates payloads from 4 KB if they become smaller", async () => {
    const codecOf = async (body: Buffer) => (await encodeBody(body)).codec;
    assert.equal(await codecOf(text(4095)), "identity");
    assert.equal(await codecOf(text(4096)), "deflate");
    assert.equal(await codecOf(randomBytes(20_000)), "identity");
    assert.ok((await encodeBody(text(20_000))).bytes.length < 500);
  });

  it("gives back bodies that come at once, more than a turn of the event loop deflates", async () => {
    const bodies = Array.from({ length: 40 }, () => Buffer.from(randomBytes(30_000).toString("hex")));
    const encoded = await Promise.all(bodies.map(encodeBody));
    for (const [index, each] of encoded.entries()) {
      assert.equal(each.codec, "deflate");
      assert.deepEqual(await decodeBody(each), bodies[index]);
    }
  });

  it("leaves no garbage in a thread", () => {
    const body = Buffer.concat([text(300_000)]);
    const { bytes } = encodeBodyInThread(body);
    assert.equal(body.length, 0);
    assert.equal(bytes.buffer.byteLength, bytes.length);
  });

  it("inflates exactly the received number of bytes", async () => {
    const encoded = await encodeBody(text(1_000_000));
    for (const size of [0, 100, 999_999, 1_000_001]) {
      const damaged = { ...encoded, size };
      await assert.rejects(decodeBody(damaged));
      assert.throws(() => decodeBodySync(damaged));
    }
    const cut = { ...encoded, bytes: encoded.bytes.subarray(0, 1000) };
    await assert.rejects(decodeBody(cut));
  });
});
