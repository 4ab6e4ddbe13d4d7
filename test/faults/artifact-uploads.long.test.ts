import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { removeUnnamedBlobs } from "../../shared/artifacts/remove-unnamed.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { hourMs } from "../../shared/durations.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { type Running, runIngress } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";

const mount = (...options: string[]) => spawnSync("mount", options).status === 0;
const skip = process.getuid?.() === 0 ? false : "mounting needs root";
if (skip && process.env.TEST_REQUIRE === "all") throw new Error(skip);
const bytes = randomBytes(3_000_000);
const sha1sum = createHash("sha1").update(bytes).digest("hex");

describeOnBothDatabases("an upload of an artifact", (database) => {
  let api: Api;
  let ingresses: (Running & { url: string })[] = [];
  beforeEach(async () => {
    api = await openApi(database);
    ingresses = [];
  });
  const folderOf = () => new URL(api.world.config.blobUrl).pathname;
  afterEach(async () => {
    await Promise.all(ingresses.map((each) => each.kill()));
    await api.close();
  });

  const startIngress = async () => {
    const ingress = await runIngress(settingsOf(api.world));
    ingresses.push(ingress);
    return ingress;
  };
  const unfinished = () => {
    const folder = join(folderOf(), "unfinished");
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const totalBytes = async () => {
    const { db } = api.world.services;
    const rows = await db.select().from(db.tables.artifactTotals);
    return rows.reduce((sum, each) => sum + each.bytes, 0);
  };
  const announce = async (url: string) => {
    await api.build(api.acme.pipeline.id);
    const agent = await startAgent(url, await agentTokenOf(api.world, api.acme.cluster));
    const job = (await agent.offered()) ?? assert.fail();
    const { token } = await agent.begin(job);
    const file = { path: "a", file_size: bytes.length, sha1sum };
    const batch = { id: randomUUID(), artifacts: [file] };
    const { body } = await agent.send("POST", `/jobs/${job}/artifacts`, batch, token);
    const report = (by: ScriptedAgent["send"]) =>
      by(
        "PUT",
        `/jobs/${job}/artifacts`,
        { artifacts: [{ id: body.artifact_ids[0], state: "finished" }] },
        token,
      );
    return { agent, id: body.artifact_ids[0] as string, data: body.upload_instructions.data, report };
  };
  const stored = async (id: string) => {
    const found = await api.world.services.blobs.read(artifactBlob(id));
    const hash = createHash("sha1");
    for await (const piece of found?.pieces ?? []) hash.update(piece);
    return hash.digest("hex");
  };

  it("whose process is killed leaves nothing, and its agent repeats it at another", async () => {
    const [killed, other] = [await startIngress(), await startIngress()];
    const { id, data, report } = await announce(killed.url);
    const half = begin(killed.url, data);
    half.write(bytes.subarray(0, 1_500_000));
    await eventually("a part of the file", async () => unfinished().length === 1);

    const broken = assert.rejects(half.answered);
    await killed.kill("SIGKILL");
    await broken;

    const agent = await startAgent(other.url, await agentTokenOf(api.world, api.acme.cluster));
    assert.equal((await report(agent.send)).status, 422, "it was not uploaded");
    assert.equal(await send(other.url, data), 200);
    assert.equal((await report(agent.send)).status, 200);
    assert.equal(await stored(id), sha1sum);
    assert.equal(unfinished().length, 1);
    const clock = { ...api.world.clock, now: () => new Date(Date.now() + hourMs + 60_000) };
    await removeUnnamedBlobs({ ...api.world.services, clock });
    assert.deepEqual(unfinished(), []);
    assert.equal(await stored(id), sha1sum);
  });

  it("is 507 when the disk fills up in the middle, and taken once there is room", { skip }, async () => {
    const folder = folderOf();
    mkdirSync(folder);
    assert.equal(mount("-t", "tmpfs", "-o", "size=20m", "none", folder), true);
    try {
      const ingress = await startIngress();
      const { agent, id, data, report } = await announce(ingress.url);
      const half = begin(ingress.url, data);
      half.write(bytes.subarray(0, 1_500_000));
      await eventually("a part of the file", async () => unfinished().length === 1);
      const filler = join(folder, "filler");
      writeFileSync(filler, Buffer.alloc(17_000_000));
      fill(filler);

      assert.equal(await half.end(bytes.subarray(1_500_000)), 507);
      assert.deepEqual(unfinished(), []);
      assert.equal((await report(agent.send)).status, 422, "it was not uploaded");
      assert.equal(await send(ingress.url, data), 507);
      rmSync(filler);
      assert.equal(await send(ingress.url, data), 200);
      assert.equal((await report(agent.send)).status, 200);
      assert.equal(await stored(id), sha1sum);
    } finally {
      spawnSync("umount", ["--lazy", folder]);
    }
  });

  it("that comes to two processes at once is stored, and counted, once", async () => {
    const [one, other] = [await startIngress(), await startIngress()];
    const { agent, id, data, report } = await announce(one.url);
    const both = [one, other].map(({ url }) => begin(url, data));
    for (const each of both) each.write(bytes.subarray(0, 1_500_000));
    await eventually("both files", async () => unfinished().length === 2);

    const answers = await Promise.all(both.map((each) => each.end(bytes.subarray(1_500_000))));

    assert.deepEqual(answers, [200, 200]);
    assert.equal((await report(agent.send)).status, 200);
    assert.equal(await stored(id), sha1sum);
    assert.deepEqual(unfinished(), []);
    assert.equal(await totalBytes(), bytes.length);
  });
});

/** Leaves no room. */
function fill(file: string): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(4096), { flag: "a" });
  } catch {} // ENOSPC
}

const tail = "\r\n--b--\r\n";

/** Sends the form up to its file. */
function begin(url: string, data: Record<string, string>) {
  const fields = Object.entries({ ...data, path: "a" }).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${fields.join("")}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  const length = Buffer.byteLength(head) + bytes.length + tail.length;
  const headers = { "Content-Type": "multipart/form-data; boundary=b", "Content-Length": length };
  const answered = Promise.withResolvers<number>();
  const outgoing: ClientRequest = request(
    `${url}/v3/artifacts/upload`,
    { method: "POST", headers, agent: false },
    (incoming) => {
      incoming.resume();
      answered.resolve(incoming.statusCode ?? 0);
    },
  );
  outgoing.on("error", answered.reject);
  outgoing.write(head);
  return {
    answered: answered.promise,
    write: (piece: Buffer) => void outgoing.write(piece),
    end(piece: Buffer) {
      outgoing.write(piece);
      outgoing.end(tail);
      return answered.promise;
    },
  };
}

function send(url: string, data: Record<string, string>): Promise<number> {
  return begin(url, data).end(bytes);
}
