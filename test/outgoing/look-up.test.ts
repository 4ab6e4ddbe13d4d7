import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openLookUp } from "../../shared/outgoing/look-up.ts";

/** A name server that knows `known.example`, knows that there is no `none.example`, and is silent otherwise. */
function answerTo(query: Buffer): Buffer | undefined {
  let end = 12;
  const labels: string[] = [];
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
    labels.push(query.toString("latin1", end + 1, end + 1 + length));
    end += length + 1;
  }
  const name = labels.join(".").toLowerCase();
  const isOfIpv4 = query.readUInt16BE(end + 1) === 1;
  if (!["known.example", "none.example"].includes(name)) return undefined;
  const isFound = name === "known.example" && isOfIpv4;
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(name === "none.example" ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isFound ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
  return Buffer.concat([head, query.subarray(12, end + 5), ...(isFound ? [record] : [])]);
}

describe("looking up a name", () => {
  const server = createSocket("udp4");
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "signalbox-hosts-"));
    await writeFile(
      join(folder, "hosts"),
      "127.0.0.1 localhost\n# 192.0.2.1 known.example\n192.0.2.9\tGit.Example  other # 192.0.2.8\n2001:db8::9 git.example\n",
    );
    server.on("message", (query, { port, address }) => {
      const answer = answerTo(query);
      if (answer) server.send(answer, port, address);
    });
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  const open = (bySystem: (name: string) => Promise<{ address: string; family: number }[]>) => {
    const nameServers = [`127.0.0.1:${server.address().port}`];
    return openLookUp({ hosts: join(folder, "hosts"), nameServers, tryMs: 500, bySystem });
  };
  const never = () => assert.fail("The system is not asked.");
  const { signal } = new AbortController();

  it("finds it in the file of hosts, else at a name server", async () => {
    const lookUp = open(never);
    assert.deepEqual(await lookUp("git.example", signal), [
      { address: "192.0.2.9", family: 4 },
      { address: "2001:db8::9", family: 6 },
    ]);
    assert.deepEqual(await lookUp("known.example", signal), [{ address: "192.0.2.7", family: 4 }]);
  });

  it("finds it as the system does if neither knows it", async () => {
    const lookUp = open(async (name) => [{ address: name === "none.example" ? "192.0.2.5" : "", family: 4 }]);
    assert.deepEqual(await lookUp("none.example", signal), [{ address: "192.0.2.5", family: 4 }]);
  });

  it("waits for no others whose name servers are silent, which the system looks up one after the other", async () => {
    let [present, most] = [0, 0];
    const lookUp = open(async (name) => {
      if (name === "none.example") return [{ address: "192.0.2.5", family: 4 }];
      most = Math.max(most, ++present);
      await new Promise((resolve) => setImmediate(resolve));
      present--;
      throw new Error("silent");
    });
    const given = new AbortController();
    const silent = Array.from({ length: 64 }, (_, at) =>
      lookUp(`silent-${at}.example`, at < 32 ? signal : given.signal).catch(({ message }) => message),
    );
    given.abort(new Error("given up"));
    for (const [name, address] of Object.entries({
      "known.example": "192.0.2.7",
      "none.example": "192.0.2.5",
    }))
      assert.deepEqual(await Promise.race([...silent, lookUp(name, signal)]), [{ address, family: 4 }]);

    assert.deepEqual(await Promise.all(silent), [...Array(32).fill("silent"), ...Array(32).fill("given up")]);
    assert.equal(most, 1);
  });
});
