import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import createClient from "openapi-fetch";
import { newJob } from "../../agents/logs/jobs-with-logs.ts";
import { leaveBytes } from "../../artifacts/left-by-job.ts";
import { type Api, openApi } from "../../helpers/api.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import type { paths } from "./client-types.d.ts";

const secrets = "/v2/organizations/{org}/clusters/{cluster}/secrets";
const secret = `${secrets}/{secret}` as const;
const build = "/v2/organizations/{org}/pipelines/{slug}/builds/{number}";
const job = "/v2/organizations/{org}/jobs/{job}";

describeOnSqlite("a client generated from the OpenAPI document, for what jobs read and leave", (database) => {
  let api: Api;

  before(async () => {
    api = await openApi(database);
  });
  after(() => api.close());

  const open = (token = api.adminToken) =>
    createClient<paths>({ baseUrl: api.world.url, headers: { Authorization: `Bearer ${token}` } });

  it("calls all operations on secrets of clusters", async () => {
    const client = open();
    const path = { org: "acme", cluster: api.acme.cluster.id };

    const created = await client.POST(secrets, {
      params: { path },
      body: { key: "DEPLOY_KEY", value: "one" },
    });
    assert.equal(created.response.status, 201);
    assert.equal(created.data?.organization.slug, "acme");
    const params = { path: { ...path, secret: created.data?.id ?? "" } };
    const policy = "- pipeline_slug: web";
    const updated = await client.PUT(secret, { params, body: { description: "Deploys", policy } });
    assert.deepEqual([updated.data?.description, updated.data?.policy], ["Deploys", policy]);
    const valued = await client.PUT(`${secret}/value`, { params, body: { value: "two" } });
    assert.equal(valued.response.status, 200);
    const read = await client.GET(secret, { params });
    assert.deepEqual(read.data, valued.data);
    const listed = await client.GET(secrets, { params: { path, query: { per_page: 1 } } });
    assert.deepEqual(listed.data, [read.data]);

    const again = await client.POST(secrets, { params: { path }, body: { key: "deploy_key", value: "x" } });
    assert.equal(again.response.status, 422);
    assert.equal((await client.DELETE(secret, { params })).response.status, 204);
    const gone = await client.GET(secret, { params });
    assert.deepEqual([gone.response.status, gone.error?.message], [404, "No secret found"]);
  });

  it("calls all operations on annotations, of a build and of a job", async () => {
    const client = open();
    const { id, slug } = await newJob(api.world.services, api.acme);
    const ofBuild = { path: { org: "acme", slug, number: 1 } };
    const ofJob = { path: { org: "acme", job: id } };

    const created = await client.POST(`${build}/annotations`, {
      params: ofBuild,
      body: { body: "**one**", style: "info", context: "c", priority: 9 },
    });
    assert.deepEqual([created.response.status, created.data?.job_id], [201, null]);
    const added = await client.POST(`${build}/annotations`, {
      params: ofBuild,
      body: { body: " two", context: "c", append: true },
    });
    assert.deepEqual(
      [added.data?.id, added.data?.style, added.data?.body_html],
      [created.data?.id, "info", "<p><strong>one</strong> two</p>\n"],
    );
    const own = await client.POST(`${job}/annotations`, { params: ofJob, body: { body: "own" } });
    assert.deepEqual([own.data?.scope, own.data?.job_id], ["job", id]);
    const all = await client.GET(`${build}/annotations`, {
      params: { ...ofBuild, query: { scope: "all", omit_body: true } },
    });
    assert.deepEqual(
      all.data?.map((each) => [each.context, each.body_html]),
      [
        ["c", undefined],
        ["default", undefined],
      ],
    );
    assert.deepEqual((await client.GET(`${job}/annotations`, { params: ofJob })).data, [own.data]);

    const annotation = own.data?.id ?? "";
    const removed = await client.DELETE(`${job}/annotations/{annotation}`, {
      params: { path: { ...ofJob.path, annotation } },
    });
    assert.equal(removed.response.status, 204);
    const blank = await client.POST(`${job}/annotations`, { params: ofJob, body: { body: "" } });
    assert.deepEqual([blank.response.status, blank.error?.message], [422, "Body can't be blank"]);
  });

  it("calls all operations on artifacts, and downloads one with its token or without", async () => {
    const client = open();
    const { services, url } = api.world;
    const made = await newJob(services, api.acme);
    const artifact = await leaveBytes(services, made, "the bytes", { path: "log/a.txt" });
    await leaveBytes(services, made, "others", { path: "b.bin" });
    const ofBuild = { org: "acme", slug: made.slug, number: 1 };
    const params = { path: { ...ofBuild, artifact: artifact.id } };

    const listed = await client.GET(`${build}/artifacts`, {
      params: { path: ofBuild, query: { path: "log/*", state: "finished" } },
    });
    const read = await client.GET(`${build}/artifacts/{artifact}`, { params });
    assert.deepEqual(listed.data, [read.data]);
    assert.deepEqual([read.data?.dirname, read.data?.filename, read.data?.file_size], ["log", "a.txt", 9]);
    const ofJob = { path: { org: "acme", job: made.id } };
    assert.equal((await client.GET(`${job}/artifacts`, { params: ofJob })).data?.length, 2);

    const download = await client.GET(`${build}/artifacts/{artifact}/download`, {
      params,
      redirect: "manual",
    });
    assert.equal(download.response.status, 302);
    const address = new URL(download.response.headers.get("location") ?? "");
    // Clients that follow by themselves send their token there, too.
    const bearer: Record<string, string> = { Authorization: `Bearer ${api.adminToken}` };
    for (const headers of [{}, bearer]) {
      const { status, text } = await request(url + address.pathname + address.search, { headers });
      assert.deepEqual([status, text], [200, "the bytes"]);
    }

    assert.equal((await client.DELETE(`${build}/artifacts/{artifact}`, { params })).response.status, 204);
    const gone = await client.GET(`${build}/artifacts/{artifact}/download`, { params, redirect: "manual" });
    assert.deepEqual([gone.response.status, gone.error?.message], [410, "The artifact is deleted"]);
  });
});
