import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, it } from "node:test";
import { gzipSync } from "node:zlib";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { base, openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

describeWorld("…/jobs/{id}/log", openApi, (api) => {
  let token: string;

  before(async () => {
    token = await api.tokenOf(api.admin, ["read_build_logs", "write_build_logs"]);
  });

  const logged = async (text: string | Buffer, chunkBytes?: number) => {
    const made = await newJob(api.world.services, api.acme);
    const job = await leaseJob(api.world.services, made);
    await job.log(text, chunkBytes);
    const path = `/pipelines/${made.slug}/builds/1/jobs/${made.id}/log`;
    const send = (method: string, ending = "") => api.send(method, path + ending, { token });
    return { ...job, path, send };
  };

  it("answers with the log as text, as JSON and as HTML, byte for byte", async () => {
    const text = '\x1b_bk;t=1795307277902\x07--- über "all"\r\n\x1b[31m<script>alert(1)</script>\x1b[0m\n';
    const { send, path } = await logged(text, 3);

    const [asJson, asText, asHtml] = await Promise.all([
      send("GET"),
      send("GET", ".txt"),
      send("GET", ".html"),
    ]);

    assert.deepEqual(asJson.body, {
      url: base + path,
      content: text,
      size: Buffer.byteLength(text),
      header_times: [],
    });
    assert.equal(asText.text, text);
    assert.equal(asText.headers.get("content-type"), "text/plain;charset=UTF-8");
    assert.equal(asText.headers.get("x-content-type-options"), "nosniff");
    assert.match(asHtml.text, /<span class="fg1">&lt;script>alert\(1\)&lt;\/script><\/span>/);
    assert.doesNotMatch(asHtml.text, /<script/);
    assert.match(asHtml.headers.get("content-security-policy") ?? "", /sandbox/);
  });

  it("streams megabytes", async () => {
    const bytes = Buffer.from(randomBytes(3_000_000).toString("base64"));
    const { send } = await logged(bytes, 100_000);

    assert.equal((await send("GET", ".txt")).text, bytes.toString());
    assert.equal((await send("GET")).body.size, bytes.length);
    assert.equal((await send("HEAD", ".txt")).status, 200);
  });

  it("is empty before a job has written, and 404 for another build's job", async () => {
    const { id, slug } = await newJob(api.world.services, api.acme);
    const other = await newJob(api.world.services, api.acme);
    const get = (slug: string) => api.send("GET", `/pipelines/${slug}/builds/1/jobs/${id}/log`, { token });

    assert.deepEqual([(await get(slug)).body.content, (await get(slug)).body.size], ["", 0]);
    assert.equal((await get(other.slug)).status, 404);
  });

  it("needs read_build_logs, and write_build_logs to delete", async () => {
    const { path } = await logged("secret");
    const none = await api.tokenOf(api.admin, ["read_builds"]);
    const reader = await api.tokenOf(api.admin, ["read_build_logs"]);

    assert.equal((await api.send("GET", path, { token: none })).status, 403);
    assert.equal((await api.send("GET", `${path}.txt`, { token: none })).status, 403);
    assert.equal((await api.send("DELETE", path, { token: reader })).status, 403);
  });

  it("can be deleted once the job has finished, in all attempts", async () => {
    const { send, finish } = await logged("a secret\n");

    const early = await send("DELETE");
    await finish();
    const deleted = await send("DELETE");

    assert.deepEqual(
      [early.status, early.body.message],
      [422, "Log cannot be deleted: the job has not finished"],
    );
    assert.equal(deleted.status, 204);
    assert.equal((await send("GET")).status, 404);
    assert.equal((await send("GET", ".txt")).status, 404);
    assert.equal((await send("DELETE")).status, 204);
  });

  it("shows the last attempt", async () => {
    const made = await newJob(api.world.services, api.acme);
    const first = await leaseJob(api.world.services, made);
    await first.log("first");
    await first.finish();
    const second = await leaseJob(api.world.services, { ...made, attempt: 2 });
    await second.log("second");

    const { body } = await api.send("GET", `/pipelines/${made.slug}/builds/1/jobs/${made.id}/log`, { token });

    assert.equal(body.content, "second");
  });
});

describeWorld("POST /v3/jobs/{id}/chunks", openApi, (api) => {
  const begin = async () => {
    const queue = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "make", agents: { queue: queue.key } }] });
    await api.build(pipeline.id);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, registration, { meta_data: [`queue=${queue.key}`] });
    const jobId = (await agent.offered()) as string;
    const { token } = await agent.begin(jobId);
    const send = (
      query: string,
      body: Buffer<ArrayBuffer>,
      more: { token?: string; encoding?: string } = {},
    ) =>
      fetch(`${api.world.url}/v3/jobs/${jobId}/chunks?${query}`, {
        method: "POST",
        body,
        headers: {
          Authorization: `Token ${more.token ?? token}`,
          "Content-Type": "text/plain",
          ...(more.encoding === "" ? {} : { "Content-Encoding": more.encoding ?? "gzip" }),
        },
      });
    const reader = await api.tokenOf(api.admin, ["read_build_logs"]);
    const path = `/pipelines/${pipeline.slug}/builds/1/jobs/${jobId}/log.txt`;
    const read = async () => (await api.send("GET", path, { token: reader })).text;
    return { agent, jobId, token, send, read };
  };
  const gzip = (text: string) => Buffer.from(gzipSync(text));

  it("takes gzip and plain bytes, with the token of the job or of the session", async () => {
    const { agent, send, read } = await begin();

    const statuses = [
      await send("sequence=1&offset=0&size=4", gzip("one\n")),
      await send("sequence=1&offset=0&size=4", gzip("one\n")),
      await send("sequence=2&offset=4&size=4", Buffer.from("two\n"), { encoding: "" }),
      await send("sequence=3&offset=8&size=6", gzip("three\n"), { token: agent.token }),
      await send("sequence=4&offset=14&size=5", Buffer.from("four\n"), { encoding: " " }),
      await send("sequence=5&offset=19&size=5", gzip("five\n"), { encoding: "GZIP" }),
    ].map(({ status }) => status);

    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200]);
    assert.equal(await read(), "one\ntwo\nthree\nfour\nfive\n");
  });

  it("refuses what never fits with 4xx, and late chunks with 404", async () => {
    const { agent, jobId, send, read } = await begin();
    const status = async (answer: ReturnType<typeof send>) => (await answer).status;

    assert.equal(await status(send("sequence=1&offset=0", gzip("cut short").subarray(0, 12))), 400);
    assert.equal(await status(send("sequence=1&offset=0", gzip("x"), { encoding: "br" })), 415);
    assert.equal(
      await status(send("sequence=1&offset=0", Buffer.from(gzipSync(Buffer.alloc(102_401))))),
      413,
    );
    assert.equal(await status(send("sequence=1&offset=0", Buffer.alloc(200_000), { encoding: "" })), 413);
    assert.equal(await status(send("sequence=1&offset=0", gzip("x"), { token: "sbjt_wrong" })), 401);
    await agent.finish(jobId);
    assert.equal(await status(send("sequence=1&offset=0", gzip("late"), { token: agent.token })), 404);

    assert.equal(await read(), "");
  });

  it("takes header times, and keeps none", async () => {
    const { agent, jobId, token } = await begin();
    const body = { header_times: { "0": "2026-11-21T16:12:15.900539223Z" } };
    assert.equal((await agent.send("POST", `/jobs/${jobId}/header_times`, body, token)).status, 200);
  });
});
