import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { after, it } from "node:test";
import { failForgottenArtifacts } from "../../shared/artifacts/fail.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { dayMs, hourMs } from "../../shared/durations.ts";
import { type AcceptedJob, PublicAgent, type UploadForm, versions } from "../agents/public-agent.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { openApi, unknownId } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { sendRaw } from "../helpers/sockets.ts";

const newest = versions.at(-1) ?? assert.fail();
const file = { path: "a.txt", bytes: Buffer.from("the file") };

describeWorldOn(sqlite, "an artifact", openApi, (api) => {
  const agents: PublicAgent[] = [];

  after(async () => {
    for (const agent of agents) agent.close();
  });

  const startJob = async () => {
    const { key } = await api.newQueue();
    const { id } = await api.newPipeline({ steps: [{ command: "make", agents: { queue: key } }] });
    await api.build(id);
    const agent = new PublicAgent(api.world.url, newest);
    agents.push(agent);
    await agent.start(await agentTokenOf(api.world, api.acme.cluster), key);
    const job = await agent.accept((await agent.ping()).job?.id ?? assert.fail());
    await agent.run(job);
    const announce = async (files = [file], more = {}) => {
      const { body } = await agent.announceArtifacts(job, files, more);
      return { ids: body.artifact_ids as string[], form: body.upload_instructions as UploadForm };
    };
    const report = (artifacts: object[]) =>
      agent.send("PUT", `/jobs/${job.id}/artifacts`, { json: { artifacts }, token: job.token });
    const search = async (query: Record<string, string> = { query: "*" }) =>
      (await agent.searchArtifacts(job, buildOf(job), query)).body;
    return { agent, job, announce, report, search };
  };
  const buildOf = ({ env }: AcceptedJob) => env.BUILDKITE_BUILD_ID as string;
  const totalBytes = async () => {
    const { db } = api.world.services;
    const rows = await db.select().from(db.tables.artifactTotals);
    return rows.reduce((sum, { bytes }) => sum + bytes, 0);
  };

  it("is finished only with the bytes that were announced", async () => {
    const { agent, announce, report, search } = await startJob();
    const { ids, form } = await announce();
    const [id] = ids;
    const finished = [{ id, state: "finished" }];

    assert.equal((await report(finished)).status, 422);
    for (const [bytes, what] of [
      ["the fil", "size"],
      ["the file and more", "size"],
      ["the FILE", "SHA-1"],
    ] as const) {
      const { status, body } = await agent.sendArtifact(form, { ...file, bytes: Buffer.from(bytes) });
      assert.deepEqual([status, body.message.includes(`another ${what}`)], [422, true], bytes);
      assert.equal((await report(finished)).status, 422);
    }
    assert.deepEqual(await search(), []);

    assert.equal((await agent.sendArtifact(form, file)).status, 200);
    assert.equal((await agent.sendArtifact(form, file)).status, 200, "again");
    assert.equal((await report(finished)).status, 200);
    assert.equal((await agent.sendArtifact(form, file)).status, 200, "again, once it is finished");
    assert.equal((await report(finished)).status, 200);
    assert.equal((await report([{ id, state: "error" }])).status, 422);
    assert.equal((await search()).length, 1);
  });

  it("that came is finished, though others of the report never came or have ended otherwise", async () => {
    const { agent, announce, report, search } = await startJob();
    const files = ["came", "missing", "given up", "ended"].map((path) => ({ ...file, path }));
    const { ids, form } = await announce(files);
    const [came, missing, givenUp, ended] = ids;
    for (const each of files.slice(0, 1)) assert.equal((await agent.sendArtifact(form, each)).status, 200);
    assert.equal((await report([{ id: ended, state: "error" }])).status, 200);

    const { status, body } = await report([
      { id: missing, state: "finished" },
      { id: ended, state: "finished" },
      { id: unknownId, state: "finished" },
      { id: came, state: "finished" },
      { id: givenUp, state: "error" },
    ]);

    assert.equal(status, 422);
    assert.match(body.message, /^The artifact (missing was not uploaded|ended is error already)$/);
    const found: { path: string }[][] = [];
    for (const state of ["finished", "new", "error"]) found.push(await search({ query: "*", state }));
    const paths = found.map((each) => each.map(({ path }) => path));
    assert.deepEqual(paths, [["came"], ["missing"], ["given up", "ended"]]);
  });

  it("is not taken without its batch's signature, which ends after a day", async () => {
    const { agent, announce } = await startJob();
    const { form } = await announce();
    const other = (await announce([{ ...file, path: "other" }])).form;
    const send = async (batch: string) =>
      (await agent.sendArtifact({ ...form, data: { ...form.data, batch } }, file)).status;
    const { batch = "" } = form.data;

    assert.equal(await send(""), 403);
    assert.equal(await send(batch.slice(0, -1)), 403);
    assert.equal(await send(batch.replace(/\.(\d+)\./, (_, seconds) => `.${Number(seconds) + 1}.`)), 403);
    assert.equal(await send(other.data.batch ?? ""), 404);
    api.world.clock.advance(dayMs + 1000);
    assert.equal(await send(batch), 403);
  });

  it("is refused in a form without a file, of another type, cut short, or with a part that has no name", async () => {
    const { agent, announce, search } = await startJob();
    const { form } = await announce();
    const post = (type: string, body: string) =>
      agent.send("POST", "/artifacts/upload", {
        headers: { "Content-Type": type },
        bytes: Buffer.from(body),
      });
    const multipart = "multipart/form-data; boundary=b";
    const field = `--b\r\nContent-Disposition: form-data; name="batch"\r\n\r\n${form.data.batch}\r\n`;
    const path = `--b\r\nContent-Disposition: form-data; name="path"\r\n\r\na.txt\r\n`;
    const start = `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;

    assert.equal((await post("application/json", "{}")).status, 415);
    assert.equal((await post("multipart/form-data", "")).status, 415);
    assert.equal((await post(multipart, "")).status, 400);
    assert.equal((await post(multipart, `${field}${path}--b--\r\n`)).status, 400);
    assert.equal((await post(multipart, `${field}${path}${start}the file`)).status, 400);
    for (const disposition of ["form-data", "form-data; name", 'form-data; filename="a"']) {
      const nameless = `--b\r\nContent-Disposition: ${disposition}\r\n\r\na\r\n--b--\r\n`;
      assert.equal((await post(multipart, nameless)).status, 400, disposition);
    }
    assert.equal((await search({ query: "*", state: "new" })).length, 1);
  });

  it("is refused at the first part too many: the parser makes objects for each", async () => {
    const { agent } = await startJob();
    const post = async (part: string) => {
      const { status, body } = await agent.send("POST", "/artifacts/upload", {
        headers: { "Content-Type": "multipart/form-data; boundary=b" },
        bytes: Buffer.from(part.repeat(60_000 / part.length)),
      });
      return [status, body.message];
    };
    const tooMany = [400, "The form has more than 20 fields before the file"];

    assert.deepEqual(await post("--b\r\n"), tooMany);
    assert.deepEqual(await post(fieldOf("a", "")), tooMany);
  });

  const formHead = (length: number) =>
    `POST /v3/artifacts/upload HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n`;
  const fieldOf = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

  it("is refused as soon as its signature has come, if that is wrong", async () => {
    const { form } = await (await startJob()).announce();
    const statuses = [
      fieldOf("batch", `${form.data.batch}x`),
      fieldOf("path", "a.txt") + fieldOf("batch", ""),
      fieldOf("batch", form.data.batch ?? "") + fieldOf("batch", "x"),
    ].map(async (fields) => {
      // The line of the next part ends the field; nothing follows.
      const { socket, status } = await sendRaw(api.world.url, `${formHead(1000)}${fields}--b\r\n`);
      return status.finally(() => socket.destroy());
    });
    assert.deepEqual(await Promise.all(statuses), [403, 403, 403]);
  });

  it("is refused if its fields are larger than all that agents send, in whatever pieces they come", async () => {
    const { agent, announce } = await startJob();
    const { form } = await announce();
    const send = async (more: Record<string, string>) =>
      (await agent.sendArtifact({ ...form, data: { ...more, ...form.data } }, file)).status;
    const five = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, "x".repeat(3300)]));
    const endless = await sendRaw(api.world.url, `${formHead(1_000_000)}--b\r\nX: ${"x".repeat(40_000)}`);

    assert.equal(await endless.status, 413);
    assert.equal(await send(five), 413);
    assert.equal(await send({ a: "x".repeat(8000) }), 200);
    endless.socket.destroy();
  });

  it("is not stored when its connection breaks", async () => {
    const { announce, agent } = await startJob();
    const large = { path: "large", bytes: Buffer.alloc(1_000_000, "x") };
    const { ids, form } = await announce([large]);
    const { port } = new URL(api.world.url);
    const socket = connect(Number(port), "127.0.0.1");
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const head = `POST ${form.action.path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n`;
    const fields = part("batch", form.data.batch ?? "") + part("path", "large");
    const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${"x".repeat(300_000)}`;
    socket.write(head + fields + file, () => socket.destroy());
    await new Promise((resolve) => socket.once("close", resolve));

    assert.equal((await agent.sendArtifact(form, large)).status, 200);
    const found = await api.world.services.blobs.find(artifactBlob(ids[0] ?? ""));
    assert.equal(found?.bytes, 1_000_000);
  });

  it("is taken twice under one path, each with its own bytes", async () => {
    const { agent, announce, report } = await startJob();
    const files = [file, { ...file, bytes: Buffer.from("another") }];
    const { ids, form } = await announce(files);
    for (const each of files) assert.equal((await agent.sendArtifact(form, each)).status, 200);
    const { status } = await report(ids.map((id) => ({ id, state: "finished" })));
    assert.equal(status, 200);
  });

  it("is reported with as many parts as an artifact may have", async () => {
    const { agent, announce, report } = await startJob();
    const { ids, form } = await announce();
    assert.equal((await agent.sendArtifact(form, file)).status, 200);
    const parts = Array.from({ length: 10_000 }, (_, index) => ({ part_number: index + 1, etag: '"0"' }));

    const { status } = await report([{ id: ids[0], state: "finished", multipart_etags: parts }]);

    assert.equal(status, 200);
  });

  it("that its agent gives up leaves no bytes, and counts no longer", async () => {
    const { agent, announce, report, search } = await startJob();
    const before = await totalBytes();
    const { ids, form } = await announce();
    assert.equal(await totalBytes(), before + file.bytes.length, "before they come");
    await agent.sendArtifact(form, file);
    assert.equal(await totalBytes(), before + file.bytes.length);

    for (const _ of ["once", "again"])
      assert.equal((await report(ids.map((id) => ({ id, state: "error" })))).status, 200);

    assert.equal(await totalBytes(), before);
    assert.equal(await api.world.services.blobs.find(artifactBlob(ids[0] ?? "")), undefined);
    assert.equal((await agent.sendArtifact(form, file)).status, 422);
    assert.deepEqual(await search(), []);
    assert.equal((await search({ query: "*", state: "error" })).length, 1);
  });

  it("that nobody finishes within a day is an error", async () => {
    await failForgottenArtifacts(api.world.services); // those of other tests
    const { agent, announce, report } = await startJob();
    const before = await totalBytes();
    const { ids, form } = await announce();
    await agent.sendArtifact(form, file);

    assert.equal(await failForgottenArtifacts(api.world.services), 0);
    api.world.clock.advance(dayMs + 1000);
    assert.ok((await failForgottenArtifacts(api.world.services)) > 0);

    assert.ok((await totalBytes()) <= before);
    assert.equal(await api.world.services.blobs.find(artifactBlob(ids[0] ?? "")), undefined);
    assert.ok([401, 422].includes((await report([{ id: ids[0], state: "finished" }])).status));
  });

  it("that its job has not finished when it ends is an error soon after, and counts no longer", async () => {
    await failForgottenArtifacts(api.world.services); // those of other tests
    const { agent, announce, job } = await startJob();
    const before = await totalBytes();
    const { ids, form } = await announce([file, { ...file, path: "never came" }]);
    await agent.sendArtifact(form, file);

    assert.equal(await failForgottenArtifacts(api.world.services), 0);
    await agent.finish(job);
    assert.equal(await failForgottenArtifacts(api.world.services), 2);

    assert.equal(await totalBytes(), before);
    assert.equal(await api.world.services.blobs.find(artifactBlob(ids[0] ?? "")), undefined);
    assert.equal((await agent.sendArtifact(form, file)).status, 422);
  });

  it("is uploaded elsewhere by its agent, which finds its address there", async () => {
    const { agent, announce, report, search } = await startJob();
    const destination = "s3://bucket/prefix";
    const { ids, form } = await announce([file], { upload_destination: destination });
    assert.equal(form, null);
    assert.equal((await report(ids.map((id) => ({ id, state: "finished" })))).status, 200);
    const [found] = await search();
    assert.deepEqual([found.upload_destination, found.path], [destination, file.path]);
    assert.equal((await agent.download(found.url)).status, 404, "its bytes are not here");
  });

  it("is downloaded as a file that no browser runs, for an hour", async () => {
    const { agent, announce, report, search } = await startJob();
    const page = { path: 'x/<b>"é.html', bytes: Buffer.from("<script>alert(1)</script>") };
    const { ids, form } = await announce([page]);
    await agent.sendArtifact(form, page);
    await report(ids.map((id) => ({ id, state: "finished" })));
    const [{ url }] = await search();

    const { status, headers, text } = await agent.download(url);
    assert.deepEqual([status, text], [200, page.bytes.toString()]);
    assert.equal(
      headers["content-disposition"],
      `attachment; filename="_b___.html"; filename*=UTF-8''%3Cb%3E%22%C3%A9.html`,
    );
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(headers["content-security-policy"] as string, /sandbox/);
    assert.equal(headers["set-cookie"], undefined);

    const other = url.replace(ids[0] as string, unknownId);
    assert.equal((await agent.download(other)).status, 403);
    const forged = url.replace(/(?<=signature=)./, (first: string) => (first === "_" ? "-" : "_"));
    assert.equal((await agent.download(forged)).status, 403);
    api.world.clock.advance(hourMs + 1000);
    assert.equal((await agent.download(url)).status, 403);
  });

  it("is out of reach for other jobs, tenants and ended attempts", async () => {
    const { announce, agent, job, report } = await startJob();
    const other = await startJob();
    const { ids } = await announce();
    const states = ids.map((id) => ({ id, state: "error" }));

    assert.equal((await other.report(states)).status, 422);
    const put = await other.agent.send("PUT", `/jobs/${job.id}/artifacts`, {
      json: { artifacts: states },
      token: other.job.token,
    });
    assert.equal(put.status, 404);
    assert.equal((await other.agent.searchArtifacts(other.job, unknownId, { query: "*" })).status, 404);
    await agent.finish(job);
    assert.equal((await report(states)).status, 404);
  });

  it("needs a sound description, and a batch of its own", async () => {
    const { agent, job } = await startJob();
    const sound = { path: "a", file_size: 1, sha1sum: "0".repeat(40) };
    const send = (artifact: object, id: unknown = randomUUID()) =>
      agent.send("POST", `/jobs/${job.id}/artifacts`, {
        json: { id, artifacts: [{ ...sound, ...artifact }] },
        token: job.token,
      });
    for (const wrong of [
      { path: "" },
      { path: "a\0" },
      { path: "x".repeat(4097) },
      { file_size: -1 },
      { file_size: 1.5 },
      { file_size: 5 * 1024 ** 3 + 1 },
      { sha1sum: "x" },
      { sha256sum: "0" },
    ])
      assert.equal((await send(wrong)).status, 422, JSON.stringify(wrong).slice(0, 60));
    assert.equal((await send({}, "x")).status, 422);
    const id = randomUUID();
    const [first, again, another] = [await send({}, id), await send({}, id), await send({ path: "b" }, id)];
    assert.deepEqual([first?.status, again?.body.artifact_ids], [200, first?.body.artifact_ids]);
    assert.equal(another?.status, 422);
  });
});
