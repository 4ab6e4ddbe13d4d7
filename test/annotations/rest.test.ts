import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("the annotations of REST", openApi, (api) => {
  const post = (path: string, body: object) => api.send("POST", path, { body });
  const newBuild = async () => {
    const pipeline = await api.newPipeline({ steps: [{ command: "a" }, { command: "b" }] });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const { jobs } = (await api.send("GET", path)).body;
    return { path, jobs: jobs.map(({ id }: { id: string }) => id) as string[] };
  };

  it("201 with the annotation; the same context changes it", async () => {
    const { path } = await newBuild();

    const made = await post(`${path}/annotations`, { body: "a", style: "info", context: "x" });
    const changed = await post(`${path}/annotations`, { body: "b", append: true, context: "x" });

    assert.deepEqual([made.status, changed.status], [201, 201]);
    assert.equal(changed.body.id, made.body.id);
    assert.deepEqual([made.body.body_html, changed.body.body_html], ["<p>a</p>\n", "<p>ab</p>\n"]);
    assert.deepEqual((await api.send("GET", `${path}/annotations`)).body, [changed.body]);
  });

  it("answers below a job with its annotations, at both addresses", async () => {
    const { path, jobs } = await newBuild();
    const [job = "", other = ""] = jobs;
    const made = await post(`${path}/jobs/${job}/annotations`, { body: "a" });
    assert.deepEqual([made.body.scope, made.body.job_id], ["job", job]);
    const short = await post(`/jobs/${other}/annotations`, { body: "b" });
    assert.equal(short.status, 201);

    assert.deepEqual((await api.send("GET", `/jobs/${job}/annotations`)).body, [made.body]);
    assert.deepEqual((await api.send("GET", `${path}/jobs/${other}/annotations`)).body, [short.body]);
    assert.deepEqual((await api.send("GET", `${path}/annotations`)).body, []);
    const deleted = await api.send("DELETE", `/jobs/${other}/annotations/${made.body.id}`);
    assert.equal(deleted.status, 404, "of another job");
    assert.equal((await api.send("DELETE", `/jobs/${job}/annotations/${made.body.id}`)).status, 204);
    assert.equal((await api.send("DELETE", `${path}/annotations/${short.body.id}`)).status, 204);
    assert.deepEqual((await api.send("GET", `${path}/annotations?scope=all`)).body, []);
  });

  it("pages, and leaves out bodies on request", async () => {
    const { path } = await newBuild();
    for (const context of ["a", "b", "c"]) await post(`${path}/annotations`, { body: context, context });

    const first = await api.send("GET", `${path}/annotations?per_page=2&omit_body=true`);

    assert.deepEqual(
      first.body.map((each: Record<string, string>) => [each.context, "body_html" in each]),
      [
        ["a", false],
        ["b", false],
      ],
    );
    assert.match(first.headers.get("link") ?? "", /rel="next"/);
    const second = await api.send("GET", `${path}/annotations?per_page=2&page=2`);
    assert.deepEqual(second.body[0].body_html, "<p>c</p>\n");
  });

  it("404 and 422 for what is wrong", async () => {
    const { path } = await newBuild();
    const { path: otherPath } = await newBuild();
    const made = await post(`${path}/annotations`, { body: "a" });
    const statusOf = async (method: string, to: string, body?: object) =>
      (await api.send(method, to, body ? { body } : {})).status;

    assert.equal(await statusOf("DELETE", `${otherPath}/annotations/${made.body.id}`), 404);
    assert.equal(await statusOf("DELETE", `${path}/annotations/nothing`), 404);
    assert.equal(await statusOf("GET", `${path}/annotations?scope=step`), 422);
    assert.equal(await statusOf("POST", `${path}/annotations`, { style: "info", context: "new" }), 422);
    assert.equal(await statusOf("POST", `${path}/annotations`, { body: "x", style: "loud" }), 422);
    assert.equal(await statusOf("POST", `${path}/jobs/${made.body.id}/annotations`, { body: "x" }), 404);
    assert.equal(await statusOf("DELETE", `${path}/annotations/${made.body.id}`), 204);
    assert.equal(await statusOf("DELETE", `${path}/annotations/${made.body.id}`), 404);
  });
});
