import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../shared/durations.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { sqlite } from "../helpers/databases.ts";
import { runIngress } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";

const mb = 1024 ** 2;
const megabytes = Number(process.env.TEST_ARTIFACT_MEGABYTES ?? 128);
/** V8 lets 64 MB of buffers become garbage before it collects them. */
const maxAddedBytes = 96 * mb;
const requestTimeoutSeconds = 1;

describe("a large artifact", { skip: process.platform !== "linux" && "reads /proc" }, () => {
  it("passes through a process that takes little memory for it, longer than other requests may take", async (t) => {
    const api = await openApi(sqlite);
    const piece = Buffer.alloc(mb, "0123456789abcdef");
    const sha1 = createHash("sha1");
    for (let sent = 0; sent < megabytes; sent++) sha1.update(piece);
    const seconds = String(requestTimeoutSeconds);
    const timeouts = { HEADERS_TIMEOUT_SECONDS: seconds, REQUEST_TIMEOUT_SECONDS: seconds };
    const settings = { ...settingsOf(api.world), ...timeouts };
    const ingress = await runIngress(settings);
    try {
      await api.build(api.acme.pipeline.id);
      const agent = await startAgent(ingress.url, await agentTokenOf(api.world, api.acme.cluster));
      const job = (await agent.offered()) ?? assert.fail();
      const { token, env } = await agent.begin(job);
      const file = { path: "large", file_size: megabytes * mb, sha1sum: sha1.digest("hex") };
      const batch = { id: randomUUID(), artifacts: [file] };
      const { body } = await agent.send("POST", `/jobs/${job}/artifacts`, batch, token);
      const { data } = body.upload_instructions;
      const fields = Object.entries({ ...data, path: "large" }).map(
        ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const before = restartPeak(ingress.process.pid as number);
      const startedAt = performance.now();

      const head = `${fields.join("")}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
      const status = await send(`${ingress.url}/v3/artifacts/upload`, head, piece);

      assert.equal(status, 200);
      const uploaded = performance.now();
      const states = [{ id: body.artifact_ids[0], state: "finished" }];
      const put = await agent.send("PUT", `/jobs/${job}/artifacts`, { artifacts: states }, token);
      assert.equal(put.status, 200);
      const found = await agent.send(
        "GET",
        `/builds/${env.BUILDKITE_BUILD_ID}/artifacts/search?query=large`,
        undefined,
        token,
      );
      const downloadedAt = performance.now();
      assert.equal(await hashOf(found.body[0].url, ingress.url), file.sha1sum);
      const added = peakBytes(ingress.process.pid as number) - before;
      const rate = (ms: number) => `${((megabytes * secondMs) / ms).toFixed(0)} MB/s`;
      t.diagnostic(
        `${megabytes} MB up at ${rate(uploaded - startedAt)}, down at ${rate(performance.now() - downloadedAt)}; ${(added / mb).toFixed(0)} MB more memory`,
      );
      assert.ok(added < maxAddedBytes, `${added} bytes more`);
    } finally {
      await ingress.kill();
      await api.close();
    }
  });
});

/** The file pauses for longer than a request may take. */
async function send(url: string, head: string, piece: Buffer): Promise<number> {
  const tail = "\r\n--b--\r\n";
  const length = Buffer.byteLength(head) + megabytes * mb + tail.length;
  const headers = { "Content-Type": "multipart/form-data; boundary=b", "Content-Length": length };
  const answered = Promise.withResolvers<number>();
  const outgoing = request(url, { method: "POST", headers, agent: false }, (incoming) => {
    incoming.resume();
    answered.resolve(incoming.statusCode ?? 0);
  });
  outgoing.on("error", answered.reject);
  const write = (bytes: string | Buffer) =>
    new Promise<void>((resolve, reject) =>
      outgoing.write(bytes, (error) => (error ? reject(error) : resolve())),
    );
  await write(head);
  await write(piece);
  await sleep(2 * requestTimeoutSeconds * secondMs + secondMs); // time itself is tested
  for (let sent = 1; sent < megabytes; sent++) await write(piece);
  outgoing.end(tail);
  return answered.promise;
}

async function hashOf(address: string, base: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const hash = createHash("sha1");
  const { body } = await fetch(base + pathname + search);
  for await (const piece of body ?? assert.fail()) hash.update(piece);
  return hash.digest("hex");
}

/** From now on, the peak is that of what follows. */
function restartPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return peakBytes(pid);
}

function peakBytes(pid: number): number {
  const [, kilobytes = ""] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
