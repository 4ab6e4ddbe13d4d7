import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { H3Event } from "h3";
import { Downloads, streamDownload } from "../../../ingress/http/downloads.ts";
import { resources } from "../../../shared/sharing/bounds.ts";
import { presentOwner } from "../../../shared/sharing/owner.ts";
import { holdTime } from "../../helpers/clock.ts";

const piecesEach = 5;

const downloads = new Downloads({ maxAnswerBytesInFlight: 2 ** 30, minUploadBytesPerSecond: 0 });

function openEvent(): H3Event {
  const node = { req: { socket: new EventEmitter() }, res: new EventEmitter() };
  const context = { downloads, clientIp: "127.0.0.1" };
  return { context, runtime: { node } } as unknown as H3Event;
}

/** Streams downloads of organizations, and records who makes a piece, and beside whom. */
function open() {
  const making: string[] = [];
  const made: { organization: string; owner: string | undefined; beside: string[] }[] = [];

  async function* makePieces(organization: string): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < piecesEach; piece++) {
      making.push(organization);
      await nextTurn(); // as a read does
      made.push({
        organization,
        owner: presentOwner(),
        beside: making.filter((each) => each !== organization),
      });
      assert.ok(making.length <= resources.longReads.max);
      making.splice(making.indexOf(organization), 1);
      yield Buffer.alloc(1000);
    }
  }
  return {
    made,
    async download(organizationId: string, holder: string): Promise<number> {
      let size = 0;
      for await (const piece of streamDownload(
        openEvent(),
        { organizationId, holder },
        makePieces(organizationId),
      ))
        size += piece.length;
      return size;
    },
  };
}

describe("a stored file that is sent", () => {
  it("goes in parts of 128 KB, if its organization is alone", async (context) => {
    await holdTime(context);
    let inThisTurn = 0;
    const most: number[] = [];
    async function* readPieces(): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 64; piece++) {
        if (inThisTurn === 0)
          setImmediate(() => {
            most.push(inThisTurn * 64);
            inThisTurn = 0;
          });
        inThisTurn++;
        yield Buffer.alloc(64 * 1024);
      }
    }
    const event = openEvent();

    let size = 0;
    const options = { organizationId: "alone", isStored: true };
    for await (const piece of streamDownload(event, options, readPieces())) size += piece.length;

    // It has eight places in a turn.
    assert.equal(size, 64 * 64 * 1024);
    assert.ok(Math.max(...most) >= 8 * 128 && Math.max(...most) < 10 * 128, most.join());
  });
});

describe("downloads that are streamed at once", () => {
  it("make few pieces of an organization at a time, in its name, and those of others beside it", async () => {
    const { download, made } = open();

    const sizes = await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => `a${index}`).map((holder) => download("a", holder)),
      download("b", "b1"),
    ]);

    assert.deepEqual(new Set(sizes), new Set([1000 * piecesEach]));
    for (const { organization, owner } of made) assert.equal(owner, organization);
    assert.ok(made.some(({ beside }) => beside.length > 0));
    // Its later pieces come when the owner has rested, which takes longer on a busy machine.
    const firstOfB = made.findIndex(({ organization }) => organization === "b");
    assert.ok(firstOfB < made.length / 2, "the other organization need not wait for all of them");
  });
});
