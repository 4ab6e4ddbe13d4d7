import assert from "node:assert/strict";
import { it } from "node:test";
import { enterJob } from "../agents/inside/in-a-job.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

type Inside = Awaited<ReturnType<typeof enterJob>>;

describeWorld("POST /v3/jobs/{job}/annotations", openApi, (api) => {
  const enter = (...steps: (string | object)[]) =>
    enterJob(api, ...(steps.length ? steps : [{ command: "a" }]));
  const annotate = (inside: Inside, body: object, job = inside.job) =>
    inside.send("POST", `/jobs/${job}/annotations`, body);
  const list = async ({ path }: Inside, query = "scope=all") =>
    (await api.send("GET", `${path}/annotations?${query}`)).body;

  it("200: shows Markdown as HTML, in the form of v3.20", async () => {
    const inside = await enter();

    const { status } = await annotate(inside, { body: "**bold**", context: "", style: "", append: false });

    assert.equal(status, 200);
    const [annotation, ...others] = await list(inside);
    assert.deepEqual(others, []);
    const { id, created_at, updated_at, ...members } = annotation;
    assert.deepEqual(members, {
      context: "default",
      style: null,
      scope: "build",
      job_id: null,
      priority: 3,
      body_html: "<p><strong>bold</strong></p>\n",
    });
    assert.equal(created_at, updated_at);
  });

  it("replaces the body of the same context; the style and priority stay", async () => {
    const inside = await enter();
    await annotate(inside, { body: "one", context: "c", style: "warning", priority: 7 });
    await list(inside);

    await annotate(inside, { body: "two", context: "c" });

    const [{ body_html, style, priority }, ...others] = await list(inside);
    assert.deepEqual([body_html, style, priority, others], ["<p>two</p>\n", "warning", 7, []]);
  });

  it("changes only the style without a body", async () => {
    const inside = await enter();
    await annotate(inside, { body: "one", style: "info" });

    const { status } = await annotate(inside, { style: "success", append: true });

    const [{ body_html, style }] = await list(inside);
    assert.deepEqual([status, body_html, style], [200, "<p>one</p>\n", "success"]);
  });

  it("adds all that is appended at once, with nothing between", async () => {
    const inside = await enter();
    const letters = [..."abcdefghijklmnopqrst"];

    const answers = await Promise.all(
      letters.map((letter) => annotate(inside, { body: `${letter}!`, context: "x", append: true })),
    );

    assert.ok(answers.every(({ status }) => status === 200));
    const [{ body_html }, ...others] = await list(inside);
    const added = /^<p>(.*)<\/p>\n$/.exec(body_html)?.[1]?.split("!").slice(0, -1);
    assert.deepEqual([added?.sort(), others], [letters, []]);
  });

  it("annotates a job with scope job, also another one of the build; contexts are of their job", async () => {
    const inside = await enter({ command: "a" }, { command: "b" });
    const [, other] = (await inside.build()).jobs;

    await annotate(inside, { body: "own", scope: "job" });
    const { status } = await annotate(inside, { body: "other", scope: "job" }, other.id);
    await annotate(inside, { body: "build" }, other.id);

    assert.equal(status, 200);
    const all = await list(inside);
    assert.deepEqual(
      all.map(({ scope, job_id, body_html }: Record<string, string>) => [scope, job_id, body_html]),
      [
        ["job", inside.job, "<p>own</p>\n"],
        ["job", other.id, "<p>other</p>\n"],
        ["build", null, "<p>build</p>\n"],
      ],
    );
    assert.equal((await list(inside, "")).length, 1);
    assert.equal((await list(inside, "scope=job")).length, 2);
  });

  it("404 for a job of another build, and once the job has ended", async () => {
    const [inside, stranger] = [await enter(), await enter()];
    assert.equal((await annotate(inside, { body: "x" }, stranger.job)).status, 404);
    assert.equal((await annotate(inside, { body: "x" }, "no-id")).status, 404);
    await inside.finish();
    assert.ok([401, 404].includes((await annotate(inside, { body: "x" })).status));
    assert.deepEqual([await list(inside), await list(stranger)], [[], []]);
  });

  it("400 for members that are wrong, with a message for people", async () => {
    const inside = await enter();
    for (const [body, message] of [
      [{ body: [3] }, "body must be text"],
      [{ body: "x", context: "c".repeat(1025) }, "context is larger than 1,024 bytes"],
      [{ style: "info" }, "Body can't be blank"],
      [{ body: "" }, "Body can't be blank"],
    ] as const) {
      const answer = await annotate(inside, body);
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
  });

  it("400 over 1 MB after appending; what was there stays", async () => {
    const inside = await enter();
    const half = "é".repeat(256 * 1024);
    assert.equal((await annotate(inside, { body: half, append: true })).status, 200);
    assert.equal((await annotate(inside, { body: half, append: true })).status, 200);

    const { status, body } = await annotate(inside, { body: "x", append: true });

    assert.deepEqual([status, body.message], [400, "Body would be larger than 1 MB"]);
    const [{ body_html }] = await list(inside);
    assert.equal(body_html.length, 2 * half.length + "<p></p>\n".length);
  });

  it("400 for more than 8 MB in a build", async () => {
    const inside = await enter();
    const mb = "x".repeat(1024 * 1024);
    for (let n = 0; n < 8; n++)
      assert.equal((await annotate(inside, { body: mb, context: `${n}` })).status, 200);

    assert.equal((await annotate(inside, { body: "x", context: "one more" })).status, 400);
    assert.equal((await annotate(inside, { body: "shorter", context: "0" })).status, 200);
    assert.equal((await annotate(inside, { body: "x", context: "one more" })).status, 200);
  });

  it("keeps what is not text: NUL and half characters", async () => {
    const inside = await enter();
    await annotate(inside, { body: "a\0b\ud800" });
    assert.equal((await list(inside))[0].body_html, "<p>ab\ufffd</p>\n");
  });
});

describeWorld("DELETE /v3/jobs/{job}/annotations/{context}", openApi, (api) => {
  it("removes the annotation of a context in its scope; 404 for an unknown one", async () => {
    const inside = await enterJob(api, { command: "a" });
    const context = "a/b ü%?#";
    const remove = (query: string) =>
      inside.send("DELETE", `/jobs/${inside.job}/annotations/${encodeURIComponent(context)}${query}`);
    for (const scope of ["build", "job"])
      await inside.send("POST", `/jobs/${inside.job}/annotations`, { body: scope, context, scope });

    assert.equal((await remove("?scope=job")).status, 200);
    const left = await api.send("GET", `${inside.path}/annotations?scope=all`);
    assert.deepEqual(
      left.body.map(({ scope }: { scope: string }) => scope),
      ["build"],
    );
    assert.equal((await remove("?scope=job")).status, 404);
    assert.equal((await remove("?scope=step")).status, 400);
    assert.equal((await remove("")).status, 200);
    assert.equal((await remove("?scope=build")).status, 404);
  });

  it("knows a context as it was written, also one that looks like an id", async () => {
    const inside = await enterJob(api, { command: "a" });
    const path = `/jobs/${inside.job}/annotations`;
    const contexts = [
      "0B9C1D50-1F2A-4B3C-8D4E-5F60718293A4",
      "0b9c1d50-1f2a-4b3c-8d4e-5f60718293a4",
      "default",
    ];
    for (const context of contexts) await inside.send("POST", path, { body: context, context });

    assert.equal((await inside.send("DELETE", `${path}/${contexts[0]}?scope=build`)).status, 200);
    assert.equal((await inside.send("DELETE", `${path}/%zz`)).status, 400);

    const left = await api.send("GET", `${inside.path}/annotations`);
    assert.deepEqual(
      left.body.map(({ context }: { context: string }) => context),
      contexts.slice(1),
    );
  });
});
