import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NoRoomForBlob } from "../../shared/blobs/blobs.ts";
import { openRoom } from "../../shared/blobs/files/room.ts";
import { runFor } from "../../shared/sharing/owner.ts";

const megabyte = 1024 ** 2;
const gigabyte = 1024 ** 3;

/** A disk on which pieces that are read take their room. */
function openDisk(bytes: number) {
  let free = bytes;
  const room = openRoom("/blobs", async () => free);
  const open = async (owner: string, name: string, bytes: number) => {
    const ended = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    async function* content() {
      yield Buffer.alloc(1000);
      begun.resolve(); // its first piece is written
      await ended.promise;
    }
    const work = async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const { length } of pieces) free -= length;
    };
    const done = runFor(owner, () => room.use({ name, bytes }, content(), work));
    await Promise.race([begun.promise, done]);
    return async () => {
      ended.resolve();
      await done;
    };
  };
  return { open };
}

describe("the room of the disk", () => {
  it("is left to others by slow uploads of large files", async () => {
    const { open } = openDisk(5 * gigabyte);
    const slow = await Promise.all(
      Array.from({ length: 19 }, (_, index) => open("slow", `slow ${index}`, 4 * gigabyte)),
    );

    await (await open("other", "other", 4 * gigabyte))();

    for (const end of slow) await end();
  });

  it("is reserved once for an artifact, and up to 64 MB for an owner", async () => {
    const { open } = openDisk(70 * megabyte);
    const uploads = Array.from({ length: 200 }, (_, index) =>
      open("crowd", index < 100 ? "same" : `${index}`, 60_000 + megabyte),
    );
    const all = await Promise.all(uploads);

    await (await open("other", "other", 2 * megabyte))();

    for (const end of all) await end();
  });

  it("is refused to what cannot fit, and to an upload that goes on when it is used", async () => {
    const { open } = openDisk(megabyte);
    await assert.rejects(open("one", "large", 2 * megabyte), NoRoomForBlob);

    let free = 10 * megabyte;
    const room = openRoom("/blobs", async () => free);
    async function* content() {
      for (let piece = 0; piece < 100; piece++) {
        yield Buffer.alloc(64 * 1024);
        free -= megabyte; // others write, too
      }
    }
    const work = async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const _ of pieces);
    };
    await assert.rejects(room.use({ name: "a", bytes: 6 * megabyte }, content(), work), NoRoomForBlob);
  });
});
