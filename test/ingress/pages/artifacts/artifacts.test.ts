import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foldersOf } from "../../../../ingress/pages/artifacts/folders.ts";
import { evictArtifacts } from "../../../../shared/artifacts/evict.ts";
import { dayMs } from "../../../../shared/durations.ts";
import { newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { leaveArtifact, leaveBytes } from "../../../artifacts/left-by-job.ts";
import { describeWorld, withSettings } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const settings = { BASE_URL: "https://api.example.com" };

describeWorld("the pages of artifacts", withSettings(startQueuePages, settings), (pages) => {
  const makeJob = async () => {
    const job = await newJob(pages.services, pages.acme);
    const build = `/organizations/acme/pipelines/${job.slug}/builds/1`;
    return { ...job, build, at: `${build}/artifacts` };
  };
  const textOf = (html: string) =>
    html
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
  const fetchSigned = (address: string) => {
    const { pathname, search } = new URL(address);
    return fetch(`${pages.url}${pathname}${search}`, { redirect: "manual" });
  };

  it("list them by job, in folders, and lead there from the build and the job", async () => {
    const job = await makeJob();
    for (const path of ["log/unit/a.txt", "log/unit/b.txt", "log\\c.txt", "dist/<b>.zip", "d.txt"])
      await leaveArtifact(pages.services, job, { path, size: 2048 });
    await leaveArtifact(pages.services, job, { path: "gone.txt", state: "expired", isCounted: false });

    const { status, text } = await pages.asBob.get(job.at);

    assert.equal(status, 200);
    const [, list = ""] = /<ul class="files">(.*)<\/ul>/s.exec(text) ?? [];
    const file = (name: string) => `${name} 2 KB Download ${name}`;
    assert.equal(
      textOf(list).replaceAll("&lt;", "<").replaceAll("&gt;", ">"),
      `dist / ${file("<b>.zip")} log / unit / ${file("a.txt")} ${file("b.txt")} ${file("c.txt")} ${file("d.txt")} gone.txt no longer kept`,
    );
    for (const [page, link] of [
      [job.build, job.at],
      [job.page, `${job.at}?job=${job.id}`],
    ] as const)
      assert.ok((await pages.asBob.get(page)).text.includes(`<a href="${link}">6</a>`), page);
    assert.equal((await pages.asBob.get(`${job.at}?job=${job.id}`)).status, 200);
  });

  it("give folders of the same name in two jobs ids of their own", async () => {
    const [job, other] = [await makeJob(), await makeJob()];
    for (const id of [job.id, other.id])
      await leaveArtifact(pages.services, { ...job, id }, { path: "log/a.txt", size: 1 });

    const { text } = await pages.asBob.get(job.at);

    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    assert.deepEqual(
      ids.filter((id) => id?.startsWith("files-")).sort(),
      [`files-${job.id}/log`, `files-${other.id}/log`].sort(),
    );
    assert.equal(new Set(ids).size, ids.length);
  });

  it("show the start of a text, whatever it claims to be, and run none of it", async () => {
    const job = await makeJob();
    const evil = `<script>alert(document.cookie)</script>${"x".repeat(300_000)}`;
    const { id } = await leaveBytes(pages.services, job, evil, {
      path: "evil.html",
      contentType: "text/html",
    });

    const { text, headers } = await pages.asBob.get(`${job.at}/${id}`);

    assert.ok(text.includes("&lt;script>alert(document.cookie)&lt;/script>xxx"));
    assert.ok(!text.includes("<script>alert"));
    assert.match(textOf(text), /Only the first 256 KB are shown/);
    assert.ok(text.length < 300_000);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|api\.example\.com/);
  });

  it("show no bytes that are no text", async () => {
    const job = await makeJob();
    const { id } = await leaveBytes(pages.services, job, Buffer.from([0x1f, 0x8b, 0, 255]), {
      contentType: "text/plain",
    });
    const broken = await leaveArtifact(pages.services, job, { path: "lost.txt" });

    assert.doesNotMatch((await pages.asBob.get(`${job.at}/${id}`)).text, /<pre/);
    assert.doesNotMatch((await pages.asBob.get(`${job.at}/${broken.id}`)).text, /<pre/);
  });

  it("show pictures from a signed address on the address of the API", async () => {
    const job = await makeJob();
    const { id } = await leaveBytes(pages.services, job, png, { path: "a.png", contentType: "image/png" });

    const { text, headers } = await pages.asBob.get(`${job.at}/${id}`);

    const [, address = ""] = /<img class="picture" src="([^"]*)"/.exec(text) ?? [];
    assert.ok(address.startsWith("https://api.example.com/v3/artifacts/"));
    assert.match(headers.get("content-security-policy") ?? "", /img-src 'self' https:\/\/api\.example\.com;/);
    const picture = await fetchSigned(address.replaceAll("&amp;", "&"));
    assert.deepEqual(Buffer.from(await picture.arrayBuffer()), png);
    assert.equal(picture.headers.get("content-type"), "image/png");
    assert.equal(picture.headers.get("x-content-type-options"), "nosniff");
  });

  it("lead to a download that no browser runs, and that needs no cookie", async () => {
    const job = await makeJob();
    const html = "<script>alert(1)</script>";
    const { id } = await leaveBytes(pages.services, job, html, { path: "a.html", contentType: "text/html" });

    const { status, headers } = await pages.asBob.get(`${job.at}/${id}/download`);

    assert.equal(status, 303);
    const file = await fetchSigned(headers.get("location") ?? "");
    assert.equal(await file.text(), html);
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment;/);
    assert.match(file.headers.get("content-security-policy") ?? "", /sandbox/);
    assert.equal(file.headers.get("x-content-type-options"), "nosniff");
    assert.equal(file.headers.get("set-cookie"), null);
  });

  it("delete one, which then is 410", async () => {
    const job = await makeJob();
    const { id } = await leaveBytes(pages.services, job, "x", { path: "secret.txt" });
    await pages.asBob.get(`${job.at}/${id}`);

    const { status, headers } = await pages.asBob.post(`${job.at}/${id}/delete`);

    assert.deepEqual([status, headers.get("location")], [303, `${job.at}?notice=artifact_deleted`]);
    assert.match(textOf((await pages.asBob.get(job.at)).text), /secret\.txt deleted/);
    assert.equal((await pages.asBob.get(`${job.at}/${id}/download`)).status, 410);
  });

  it("say so if one is no longer kept", async () => {
    const job = await makeJob();
    const createdAt = new Date(pages.clock.now().getTime() - 31 * dayMs);
    const { id } = await leaveArtifact(pages.services, job, { createdAt });
    await evictArtifacts(pages.services);

    const { text } = await pages.asBob.get(`${job.at}/${id}`);

    assert.match(textOf(text), /State no longer kept/);
    assert.doesNotMatch(text, /Delete<|>\s*Download/);
  });

  it("of another build or organization do not exist", async () => {
    const [mine, other] = [await makeJob(), await makeJob()];
    const { id } = await leaveArtifact(pages.services, other);

    for (const path of [`${mine.at}/${id}`, `${mine.at}/${id}/download`, `${mine.at}/x`])
      assert.equal((await pages.asBob.get(path)).status, 404, path);
    assert.equal((await pages.asBob.get(`${other.at}/${id}`.replace("/acme", "/globex"))).status, 404);
    await pages.asBob.get(mine.build);
    assert.equal((await pages.asBob.post(`${mine.at}/${id}/delete`)).status, 404);
  });
});

describe("folders of artifacts", () => {
  it("end at a depth of eight", async () => {
    const path = `${"a/".repeat(5000)}b.txt`;
    let depth = 0;
    const folders = foldersOf([{ path } as never, { path: "c" } as never]);
    for (let at = folders; at.folders[0]; at = at.folders[0]) depth++;
    assert.ok(depth <= 8);
  });
});
