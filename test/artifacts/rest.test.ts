import assert from "node:assert/strict";
import { it } from "node:test";
import { evictArtifacts } from "../../shared/artifacts/evict.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { dayMs } from "../../shared/durations.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { base, openApi, unknownId } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { leaveArtifact, leaveBytes } from "./left-by-job.ts";

describeWorld("artifacts in REST", openApi, (api) => {
  const services = () => api.world.services;
  const makeJob = async () => {
    const job = await newJob(services(), api.acme);
    const build = `/pipelines/${job.slug}/builds/1`;
    return { ...job, build, at: `${build}/jobs/${job.id}/artifacts` };
  };
  const pathsOf = async (path: string) => {
    const { status, body, text } = await api.send("GET", path);
    assert.equal(status, 200, text);
    return body.map((each: { path: string }) => each.path);
  };
  const totalBytes = async () => {
    const totals = await services().db.select().from(services().db.tables.artifactTotals);
    return totals.reduce((sum, { bytes }) => sum + bytes, 0);
  };
  /** The public address of the API is another one than that of the test's server. */
  const fetchSigned = (url: string, headers: Record<string, string> = {}) =>
    request(api.world.url + url.slice(new URL(url).origin.length), { headers });

  it("are described with folder and name", async () => {
    const job = await makeJob();
    const artifact = await leaveArtifact(services(), job, { path: "log\\unit tests\\ä.txt" });

    const { status, body } = await api.send("GET", `${job.at}/${artifact.id}`);

    const url = `${base}${job.at}/${artifact.id}`;
    assert.equal(status, 200);
    assert.deepEqual(body, {
      id: artifact.id,
      job_id: job.id,
      url,
      download_url: `${url}/download`,
      state: "finished",
      path: "log\\unit tests\\ä.txt",
      dirname: "log\\unit tests",
      filename: "ä.txt",
      mime_type: "text/plain",
      file_size: 4,
      glob_path: null,
      original_path: null,
      sha1sum: artifact.sha1,
    });
    for (const at of [`${job.build}/artifacts`, `/jobs/${job.id}/artifacts`])
      assert.deepEqual((await api.send("GET", `${at}/${artifact.id}`)).body, body);
  });

  it("are listed by build and by job, with filters and pages", async () => {
    const job = await makeJob();
    for (const path of ["a/1.txt", "a/2.txt", "a\\3.txt", "b/1.txt"])
      await leaveArtifact(services(), job, { path });
    await leaveArtifact(services(), job, { path: "c", state: "error", isCounted: false });

    const all = ["a/1.txt", "a/2.txt", "a\\3.txt", "b/1.txt", "c"];
    for (const at of [job.at, `${job.build}/artifacts`, `/jobs/${job.id}/artifacts`])
      assert.deepEqual(await pathsOf(at), all);
    assert.deepEqual(await pathsOf(`${job.at}?state=error`), ["c"]);
    assert.deepEqual(await pathsOf(`${job.at}?path=a/*`), all.slice(0, 3));
    assert.deepEqual(await pathsOf(`${job.at}?path=a/*.txt&state=finished&per_page=2`), all.slice(0, 2));
    assert.deepEqual(await pathsOf(`${job.at}?path=b/1.txt`), ["b/1.txt"]);
    assert.deepEqual(await pathsOf(`${job.at}?path=b`), []);

    for (const filter of ["", "path=*&"]) {
      const seen: string[] = [];
      let next: string | undefined = `${job.at}?${filter}per_page=2`;
      while (next) {
        const answer = await api.send("GET", next);
        seen.push(...answer.body.map((each: { path: string }) => each.path));
        next = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1]?.slice(base.length);
      }
      assert.deepEqual(seen, all);
    }
    for (const [query, message] of [
      ["state=gone", "State gone is not an artifact state"],
      ["glob=*", "There is no filter glob"],
      ["state[]=error", "There is no filter state[]"],
      ["state[0]=error", "There is no filter state[0]"],
    ])
      assert.deepEqual((await api.send("GET", `${job.at}?${query}`)).body, {
        message: `Validation failed: ${message}`,
      });
  });

  it("are downloaded from an address without a token, for a minute", async () => {
    const job = await makeJob();
    const artifact = await leaveBytes(services(), job, "hello\n");

    const answer = await api.send("GET", `${job.at}/${artifact.id}/download`);

    assert.equal(answer.status, 302);
    assert.equal(answer.headers.get("location"), answer.body.url);
    assert.equal((await fetchSigned(answer.body.url)).text, "hello\n");
    api.world.clock.advance(61_000);
    assert.equal((await fetchSigned(answer.body.url)).status, 403);
  });

  it("that were uploaded elsewhere are downloaded there", async () => {
    const job = await makeJob();
    const elsewhere = { uploadDestination: "s3://files/x", isCounted: false, storedAt: null };
    const url = "https://files.s3.amazonaws.com/x/a.txt";
    const known = await leaveArtifact(services(), job, { ...elsewhere, url });
    const unknown = await leaveArtifact(services(), job, { ...elsewhere, url: "javascript:alert(1)" });

    const odd = await leaveArtifact(services(), job, { ...elsewhere, url: `${url}→\r\nSet-Cookie: a=b` });

    assert.equal((await api.send("GET", `${job.at}/${known.id}/download`)).headers.get("location"), url);
    const { headers } = await api.send("GET", `${job.at}/${odd.id}/download`);
    assert.deepEqual(
      [headers.get("location"), headers.get("set-cookie")],
      [`${url}%E2%86%92Set-Cookie:%20a=b`, null],
    );
    const { status, body } = await api.send("GET", `${job.at}/${unknown.id}/download`);
    assert.deepEqual(
      [status, body.message],
      [404, "The artifact is at s3://files/x, where its agent uploaded it"],
    );
  });

  it("are deleted once, with their bytes, and leave the total", async () => {
    const job = await makeJob();
    const before = await totalBytes();
    const artifact = await leaveBytes(services(), job, "hello\n");

    const remove = () => api.send("DELETE", `${job.at}/${artifact.id}`);
    assert.deepEqual(
      (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status),
      [204, 204, 204],
    );

    assert.equal(await totalBytes(), before);
    assert.equal(await services().blobs.find(artifactBlob(artifact.id)), undefined);
    assert.equal((await api.send("GET", `${job.at}/${artifact.id}`)).body.state, "deleted");
    const { status, body } = await api.send("GET", `${job.at}/${artifact.id}/download`);
    assert.deepEqual([status, body], [410, { message: "The artifact is deleted" }]);
    const { db } = services();
    const events = await db.select().from(db.tables.auditEvents);
    assert.equal(events.filter(({ action }) => action === "deleted an artifact of").length, 1);
  });

  it("cannot be deleted while they are uploaded", async () => {
    const job = await makeJob();
    const { id } = await leaveArtifact(services(), job, { state: "new" });

    const { status, body } = await api.send("DELETE", `${job.at}/${id}`);

    assert.deepEqual(
      [status, body],
      [422, { message: "Artifact cannot be deleted: its upload has not ended" }],
    );
    assert.equal((await api.send("GET", `${job.at}/${id}/download`)).status, 404);
  });

  it("that expired are 410, and their bytes are gone", async () => {
    const job = await makeJob();
    const createdAt = new Date(api.world.clock.now().getTime() - 31 * dayMs);
    const artifact = await leaveBytes(services(), job, "hello\n", { createdAt });

    await evictArtifacts(services());

    assert.equal((await api.send("GET", `${job.at}/${artifact.id}/download`)).status, 410);
    assert.equal(await services().blobs.find(artifactBlob(artifact.id)), undefined);
  });

  it("of other jobs, builds and organizations do not exist", async () => {
    const [mine, other] = [await makeJob(), await makeJob()];
    const { id } = await leaveArtifact(services(), other);
    const globex = await setUpOrganization(api.world, "globex");
    const foreign = await globex.token("read_artifacts", "write_artifacts");

    for (const path of [
      `${mine.at}/${id}`,
      `${mine.build}/artifacts/${id}`,
      `${mine.at}/${id}/download`,
      `${mine.build}/jobs/${other.id}/artifacts`,
      `${mine.at}/${unknownId}`,
      `${mine.at}/x`,
      `/jobs/${unknownId}/artifacts`,
    ])
      assert.equal((await api.send("GET", path)).status, 404, path);
    assert.equal((await api.send("DELETE", `${mine.at}/${id}`)).status, 404);
    for (const [method, path] of [
      ["GET", `${other.at}/${id}`],
      ["GET", `${other.at}/${id}/download`],
      ["DELETE", `${other.at}/${id}`],
    ] as const) {
      const headers = { Authorization: `Bearer ${foreign}` };
      for (const org of ["acme", "globex"]) {
        const url = `${api.world.url}/v2/organizations/${org}${path}`;
        assert.equal((await request(url, { method, headers })).status, 404, url);
      }
    }
  });

  it("need scopes of their own", async () => {
    const job = await makeJob();
    const { id } = await leaveArtifact(services(), job);
    const builds = { token: await api.acme.token("read_builds", "write_builds") };
    const reader = { token: await api.acme.token("read_artifacts") };

    assert.equal((await api.send("GET", job.at, builds)).status, 403);
    assert.equal((await api.send("GET", `${job.at}/${id}/download`, builds)).status, 403);
    assert.equal((await api.send("DELETE", `${job.at}/${id}`, reader)).status, 403);
    assert.equal((await api.send("GET", job.at, reader)).status, 200);
  });
});
