import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { leaveArtifact } from "../../../artifacts/left-by-job.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeJob } from "./annotated-job.ts";

const settings = { BASE_URL: "https://api.example.com" };

describeWorldOn(sqlite, "the annotations of a page", withSettings(startQueuePages, settings), (pages) => {
  const bodiesOf = (html: string) =>
    [...html.matchAll(/<div class="body(?: long)?">(.*?)<\/div>(?:<\/details>)?<\/article>/gs)].map(
      ([, body]) => body?.trim(),
    );

  it("are those of the build, the highest priority first, and on the page of a job its own", async () => {
    const { annotate, id, build, page } = await makeJob(pages);
    await annotate({ body: "*low*", context: "a", priority: 1, style: "warning" });
    await annotate({ body: "first", context: "b" });
    await annotate({ body: "second", context: "c" });
    await annotate({ body: "high", context: "d", priority: 10 });
    await annotate({ body: "of the job", context: "a" }, id);

    const [ofBuild, ofJob] = [await pages.asBob.get(build), await pages.asBob.get(page)];

    assert.deepEqual(bodiesOf(ofBuild.text), [
      "<p>high</p>",
      "<p>first</p>",
      "<p>second</p>",
      "<p><em>low</em></p>",
    ]);
    assert.deepEqual(bodiesOf(ofJob.text), ["<p>of the job</p>"]);
    assert.match(
      ofBuild.text,
      /data-style="warning" aria-label="a"><details [^>]*><summary class="quiet"><strong>Warning<\/strong> a</,
    );

    await annotate({ body: "usual", style: "info" });
    const { text } = await pages.asBob.get(build);
    assert.match(text, /aria-label="default"><details [^>]*><summary class="quiet"><strong>Info<\/strong> </);
    assert.doesNotMatch(text, /<strong>Info<\/strong> default/);
  });

  it("have their headings below those of the page, whichever levels their author uses", async () => {
    const { annotate, build, slug } = await makeJob(pages);
    const id = await annotate({ body: "# One\n## Two\n###### Six\n`<h1>`", context: "a", priority: 9 });
    await annotate({ body: '## Two\n<h4 class="bold">Four</h4>', context: "b" });
    const levels = (html = "") => [...html.matchAll(/<h(\d)[ >]/g)].map(([, level]) => level).join();

    const { text } = await pages.asBob.get(build);

    assert.deepEqual(bodiesOf(text).map(levels), ["3,4,6", "3,5"]);
    assert.match(text, /<h3>One<\/h3>.*<code>&lt;h1&gt;<\/code>.*<h5 class="bold">Four<\/h5>/s);
    assert.equal(text.match(/<h1[ >]/g)?.length, 1);
    const path = `/organizations/acme/pipelines/${slug}/builds/1/annotations/${id}`;
    assert.deepEqual(bodiesOf((await pages.asBob.get(path)).text).map(levels), ["3,4,6"]);
  });

  it("have pages of their own if they are large, or if there are too many", async () => {
    const { annotate, build, slug } = await makeJob(pages);
    const large = await annotate({ body: "x".repeat(64 * 1024 + 1), context: "<large>" });
    for (const context of ["a", "b", "c"]) await annotate({ body: "y".repeat(50 * 1024), context });

    const { text } = await pages.asBob.get(build);

    assert.equal(bodiesOf(text).length, 2);
    assert.match(text, /2 more annotations/);
    const path = `/organizations/acme/pipelines/${slug}/builds/1/annotations/${large}`;
    assert.ok(text.includes(`<a href="${path}">&lt;large></a>`));
    const alone = await pages.asBob.get(path);
    assert.equal(bodiesOf(alone.text)[0]?.length, 64 * 1024 + 1 + "<p></p>".length);
    const other = await makeJob(pages);
    assert.equal((await pages.asBob.get(`${other.build}/annotations/${large}`)).status, 404);
  });

  it("have pages of their own if their HTML is large, however small their bodies are", async () => {
    const { annotate, build } = await makeJob(pages);
    const body = "<".repeat(40_000); // each becomes four characters
    for (let index = 0; index < 10; index++) await annotate({ body, context: `c${index}` });
    await annotate({ body: "small", context: "last" });

    const { text } = await pages.asBob.get(build);

    assert.ok(text.length < 2 * 1024 * 1024, `${text.length}`);
    assert.match(text, /<summary>7 more annotations<\/summary>/);
    assert.match(text, /<p>small<\/p>/);
  });

  it("are the first fifty; those behind them are named, and neither read nor rendered", async () => {
    const { annotate, build, buildId } = await makeJob(pages);
    const { annotations } = pages.services.db.tables;
    const ids: string[] = [];
    for (let index = 0; index < 52; index++)
      ids.push(await annotate({ body: "small", context: `${index} ${"c".repeat(1000)}` }));
    const large = "y".repeat(600 * 1024);
    await pages.services.db.transaction((tx) =>
      tx
        .update(annotations)
        .set({ html: large })
        .where(eq(annotations.id, ids[0] ?? "")),
    );

    const { text } = await pages.asBob.get(build);

    assert.deepEqual([bodiesOf(text).length, ...new Set(bodiesOf(text))], [50, "<p>small</p>"]);
    assert.match(text, /<summary>2 more annotations<\/summary>/);
    assert.match(text, />0 c{98}…<\/a>/);
    const rows = await pages.services.db
      .select({ id: annotations.id, html: annotations.html })
      .from(annotations)
      .where(eq(annotations.buildId, buildId));
    const unread = rows.filter(({ html }) => html === null).map(({ id }) => id);
    assert.deepEqual(unread, [ids.at(-1)]);
  });

  it("have their text as a file, which has all of it", async () => {
    const { annotate, build } = await makeJob(pages);
    const body = `<b>é</b>\n${"|".repeat(400 * 1024)}`;
    const id = await annotate({ body, context: "cut" });
    const path = `${build}/annotations/${id}`;

    const { text } = await pages.asBob.get(path);
    const file = await pages.asBob.get(`${path}/body.txt`);

    assert.ok(text.includes(`href="${path}/body.txt"`));
    assert.equal(file.text, body);
    assert.equal(file.headers.get("content-type"), "text/plain;charset=UTF-8");
    assert.equal(
      (await pages.asBob.get(`${(await makeJob(pages)).build}/annotations/${id}/body.txt`)).status,
      404,
    );
  });

  it("show and link the newest artifact of a path, and nothing of other builds", async () => {
    const job = await makeJob(pages);
    const other = await makeJob(pages);
    const at = (minutes: number) => new Date(pages.clock.now().getTime() + minutes * 60_000);
    await leaveArtifact(pages.services, job, { path: "out/ü b.png", createdAt: at(-2) });
    const newest = await leaveArtifact(pages.services, job, { path: "out\\ü b.png", createdAt: at(-1) });
    await leaveArtifact(pages.services, job, { path: "out/ü b.png", state: "expired" });
    await leaveArtifact(pages.services, other, { path: "other.txt" });
    const elsewhere = { uploadDestination: "s3://b", url: "https://b.example/e.png" };
    await leaveArtifact(pages.services, job, { path: "e.png", ...elsewhere });
    await job.annotate({
      body: "![pic](<artifact://out/ü b.png>) [link](artifact://out%5C%C3%BC%20b.png) [other](artifact://other.txt) ![none](artifact://none.png) ![e](artifact://e.png) [e](artifact://e.png)",
    });

    const { text, headers } = await pages.asBob.get(job.build);

    const [html = ""] = bodiesOf(text);
    const address = /src="(https:\/\/api\.example\.com\/v3\/artifacts\/([^/]+)\/[^"]*)"/.exec(html);
    assert.equal(address?.[2], newest.id);
    const rel = 'rel="nofollow noopener noreferrer"';
    const same = address?.[1] ?? "";
    assert.equal(
      html,
      `<p><img src="${same}" alt="pic"> <a href="${same}" ${rel}>link</a> <a ${rel}>other</a> none e <a href="https://b.example/e.png" ${rel}>e</a></p>`,
    );
    assert.match(headers.get("content-security-policy") ?? "", /img-src 'self' https:\/\/api\.example\.com;/);
    const again = await pages.asBob.get(job.build);
    assert.deepEqual(bodiesOf(again.text), [html], "a refresh has the same addresses");
  });

  it("have the addresses of ten artifacts at most", async () => {
    const job = await makeJob(pages);
    const paths = Array.from({ length: 11 }, (_, n) => `${n}.txt`);
    for (const path of paths) await leaveArtifact(pages.services, job, { path });
    await job.annotate({ body: paths.map((path) => `[a](artifact://${path})`).join(" ") });

    const { text } = await pages.asBob.get(job.build);

    assert.equal([...text.matchAll(/<a href="https:\/\/api\.example\.com\/v3\/artifacts\//g)].length, 10);
  });
});
