import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { H3Event } from "h3";
import { type AllBodies, openBodies } from "../../ingress/http/body.ts";
import { readFileForm } from "../../ingress/http/transfers/file-form.ts";
import type { Tenant } from "../../ingress/http/transfers/upload.ts";
import { Refusal } from "../../shared/refusal.ts";
import { ownerOfNetwork } from "../../shared/sharing/owner.ts";
import { seeOwner } from "../../shared/sharing/presence.ts";
import { loopTurn } from "../../shared/sharing/resources.ts";
import { Shares } from "../../shared/sharing/shares.ts";
import { holdTime } from "../helpers/clock.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;
const chunk = Buffer.alloc(64 * kilobyte, "signalbox");

/** Counts the most bytes that come in one turn of the event loop. */
function countBytes() {
  let inThisTurn = 0;
  let most = 0;
  const onChunk = () => {
    if (inThisTurn === 0)
      setImmediate(() => {
        inThisTurn = 0;
      });
    inThisTurn += chunk.length;
    most = Math.max(most, inThisTurn);
  };
  return { onChunk, most: () => most };
}

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

/** Reads a form with a file that has arrived. */
async function readForm(bytes: number, { onChunk }: { onChunk: () => void }) {
  let left = bytes;
  const head = 'Content-Disposition: form-data; name="file"; filename="a"';
  const request = Readable.from(
    (function* () {
      yield Buffer.from(`--b\r\n${head}\r\n\r\n`);
      for (; left > 0; left -= chunk.length) yield chunk;
      yield Buffer.from("\r\n--b--\r\n");
    })(),
    { objectMode: false },
  );
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const req = Object.assign(request, { headers, socket: {}, complete: true });
  req.on("data", onChunk);
  const event = {
    context: { clientIp: "127.0.0.1" },
    runtime: { node: { req, res: {} } },
  } as unknown as H3Event;
  const room = { shares: new Shares({ shares: [] }), minBytesPerSecond: 0, graceMs: 1000 };
  const refuse = () => new Refusal(503, "");
  const refusals = { tooSlow: refuse, tooMany: refuse, overloaded: refuse };
  const options = { fileField: "file", checkField: () => {}, heads: room, files: room, refusals };
  await readFileForm(event, options, async ({ content, admit }) => {
    admit("acme");
    for await (const _ of content);
  });
}

describe("20 bodies of 1 MB of one network, which have all arrived", () => {
  const limits = { maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 };

  it("are read in small parts, so that others come in between", async () => {
    const { onChunk, most } = countBytes();
    const bodies = openBodies(limits);

    const all = await Promise.all(Array.from({ length: 20 }, () => read(bodies, megabyte, { onChunk })));

    for (const { bytes } of all) assert.ok(bytes.equals(Buffer.alloc(megabyte, chunk)));
    assert.ok(most() < 4 * megabyte, `${most()} bytes in one turn of the event loop`);
  });

  it("leave most turns of the event loop to an organization that has work", async (context) => {
    const pass = await holdTime(context);
    let isReading = true;
    let turns = 0;
    const countTurn = () => {
      pass(1);
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
    await nextTurn(); // the last count

    assert.ok(turnsOfReads.size < turns / 2, `${turnsOfReads.size} of ${turns} turns`);
  });
});

describe("a body of an owner who is alone", () => {
  it("comes in parts of 128 KB, in a form as well", async (context) => {
    await holdTime(context);
    const limits = { maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 };
    const counted = [countBytes(), countBytes()] as const;
    await read(openBodies(limits), 2 * megabyte, counted[0]);
    await readForm(2 * megabyte, counted[1]);

    // It has eight places in a turn.
    const parts = counted.map(({ most }) => most() / (128 * kilobyte));
    assert.ok(Math.min(...parts) >= 8, parts.join(" and "));
    assert.ok(Math.max(...parts) < 10, parts.join(" and "));
  });
});

describe("100 bodies for an organization, whose signatures are not checked yet", () => {
  it("keep no other request of it waiting", async (context) => {
    await holdTime(context);
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
  it("is not taken for a slow one when others need room", async (context) => {
    const pass = await holdTime(context);
    const bodies = openBodies({ maxBodyBytesInFlight: 256 * kilobyte, minUploadBytesPerSecond: 1e9 });
    seeOwner("another");
    const network = ownerOfNetwork("127.0.0.0/24");
    for (const _ of ["one place", "the other"]) await loopTurn(network);
    pass(1); // so that both rest
    await nextTurn();
    const body = read(bodies, 3 * chunk.length);
    await nextTurn();
    pass(2000, "wait");

    const others = read(bodies, 3 * chunk.length, { ip: "192.0.2.1" });
    await assert.rejects(others, { status: 503 });

    const timer = setInterval(() => pass(50));
    const { bytes } = await body.finally(() => clearInterval(timer));
    assert.equal(bytes.length, 3 * chunk.length);
  });
});
