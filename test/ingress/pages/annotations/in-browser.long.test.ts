import assert from "node:assert/strict";
import { it } from "node:test";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertLooks } from "../looks/assert-looks.ts";
import { makeJob } from "./annotated-job.ts";

describeInBrowser("annotations in a browser", startQueuePages, (pages) => {
  const open = async (path: string) => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    await page.goto(path);
    return page;
  };

  it("come and change while the page of the build is open", async () => {
    const { annotate, build } = await makeJob(pages);
    const page = await open(build);

    await annotate({ body: "**now**" });
    await page.locator(".annotation strong", { hasText: "now" }).waitFor();

    await annotate({ body: " and later", append: true });
    await page.getByText("now and later").waitFor();
  });

  it("run nothing, load nothing from elsewhere and stay in their place", async () => {
    const { annotate, build } = await makeJob(pages);
    await annotate({
      body: '</div></article></main><script>document.title="owned"</script><img src="https://elsewhere.invalid/x.png" onerror=\'document.title="owned"\'><svg onload="document.title=1"><style>body{display:none}</style><a href="javascript:document.title=1" id=jobs class="button danger">press</a><form action=/sign-out><input name=csrf_token></form>',
      context: "<script>1</script>",
    });
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).origin));

    await page.goto(build);

    assert.deepEqual([...new Set(asked)], [new URL(pages.url).origin]);
    assert.match(await page.title(), /^. Build #1 /);
    const inside = page.locator("main article.annotation .body");
    assert.equal(await inside.count(), 1);
    assert.equal(
      await inside.locator("script, style, svg, form, input, img, [id], [class~=danger]").count(),
      0,
    );
    assert.equal(await page.locator("main h2", { hasText: "Jobs" }).count(), 1);
  });

  it("have no serious fault of accessibility, and fit a phone", async () => {
    const { annotate, build } = await makeJob(pages);
    const table = `|a|b|\n|:-|-:|\n|${"wide ".repeat(40)}|\`code\`|`;
    const colors = [0, 1, 2, 3, 4, 5, 6, 7]
      .map((n) => `<span class="term-fg3${n}">fg</span> <span class="term-bg4${n}">bg</span>`)
      .join(" ");
    for (const style of [undefined, "success", "info", "warning", "error"] as const)
      await annotate({
        body: `## Head\n\n${table}\n\n> quote [link](https://a.example)`,
        style,
        context: `${style}`,
      });
    await annotate({
      body: `<pre>${colors}</pre>\n<details><summary>more</summary>${"x".repeat(300)}</details>`,
      context: "c".repeat(200),
    });

    await assertLooks(await open(build), "annotations");
  });
});
