import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { H3Event } from "h3";
import { type AllBodies, openBodies } from "../../ingress/http/body.ts";
import type { Tenant } from "../../ingress/http/transfers/upload.ts";
import { Refusal } from "../../shared/refusal.ts";
import { seeOwner } from "../../shared/sharing/presence.ts";
import { loopTurn } from "../../shared/sharing/resources.ts";
import { block } from "../helpers/clock.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;
const chunk = Buffer.alloc(64 * kilobyte, "signalbox");

/** Reads a body that has arrived, as the server does. */
async function read(
  bodies: AllBodies,
  bytes: number,
  options: { ip?: string; onChunk?: () => void; tenant?: Tenant } = {},
) {
  const { ip: clientIp = "127.0.0.1", onChunk = () => {}, tenant } = options;
  let left = bytes;
  const request = new Readable({
    read() {
      left -= chunk.length;
      this.push(left < 0 ? null : Buffer.from(chunk)); // its reader frees it
    },
  });
  const req = Object.assign(request, { headers: { "content-length": String(bytes) } });
  req.on("data", onChunk);
  const event = { context: { clientIp }, runtime: { node: { req, res: {} } } } as unknown as H3Event;
  return await bodies.deliveries.read(event, 2 * megabyte, () => new Refusal(413, ""), tenant);
}

describe("20 bodies of 1 MB of one network, which have all arrived", () => {
  const limits = { maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 };

  it("are read in small parts, so that others come in between", async () => {
    let inThisTurn = 0;
    let mostInATurn = 0;
    const onChunk = () => {
      if (inThisTurn === 0)
        setImmediate(() => {
          inThisTurn = 0;
        });
      inThisTurn += chunk.length;
      mostInATurn = Math.max(mostInATurn, inThisTurn);
    };
    const bodies = openBodies(limits);

    const all = await Promise.all(Array.from({ length: 20 }, () => read(bodies, megabyte, { onChunk })));

    for (const { bytes } of all) assert.ok(bytes.equals(Buffer.alloc(megabyte, chunk)));
    assert.ok(mostInATurn < 4 * megabyte, `${mostInATurn} bytes in one turn of the event loop`);
  });

  it("leave most turns of the event loop to an organization that has work", async () => {
    let isReading = true;
    let turns = 0;
    const countTurn = () => {
      seeOwner("another");
      turns++;
      if (isReading) setImmediate(countTurn);
    };
    const turnsOfReads = new Set<number>();
    const bodies = openBodies(limits);

    countTurn();
    const onChunk = () => turnsOfReads.add(turns);
    await Promise.all(Array.from({ length: 20 }, () => read(bodies, megabyte, { onChunk })));
    isReading = false;

    assert.ok(turnsOfReads.size < turns / 2, `${turnsOfReads.size} of ${turns} turns`);
  });
});

describe("100 bodies for an organization, whose signatures are not checked yet", () => {
  it("keep no other request of it waiting", async () => {
    const bodies = openBodies({ maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 });
    const tenant = { organization: "acme", trigger: "web" };
    let chunks = 0;
    const onChunk = () => chunks++;
    const all = Array.from({ length: 100 }, () => read(bodies, 4 * chunk.length, { onChunk, tenant }));
    while (chunks < 120) await nextTurn();

    const before = chunks;
    await loopTurn("acme");
    const between = chunks - before;

    await Promise.all(all);
    assert.ok(between <= 24, `${between} of ${chunks} chunks came first`);
  });
});

describe("a body that waits for its turn", () => {
  it("is not taken for a slow one when others need room", async () => {
    const bodies = openBodies({ maxBodyBytesInFlight: 256 * kilobyte, minUploadBytesPerSecond: 1e9 });
    let isFirst = true;
    const onChunk = () => {
      if (isFirst) process.nextTick(block, 500); // its network rests for as long after this turn
      isFirst = false;
    };
    const body = read(bodies, 3 * chunk.length, { onChunk });
    await sleep(700);

    const others = read(bodies, 3 * chunk.length, { ip: "192.0.2.1" });
    await assert.rejects(others, { status: 503 });
    assert.equal((await body).bytes.length, 3 * chunk.length);
  });
});
