import assert from "node:assert/strict";
import { before, it } from "node:test";
import { asc, eq } from "drizzle-orm";
import type { Page, Response } from "playwright-core";
import { removeMember } from "../../../../shared/accounts/members.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue, deleteQueue } from "../../../../shared/queues/queues.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import {
  describeInBrowser,
  follow,
  heading,
  mainText,
  openWindow,
  press,
  tabTo,
} from "../../../helpers/browser.ts";
import { password } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("by keyboard, without JavaScript, a member", startQueuePages, (pages) => {
  let scenes = 0;

  /** A window of Bob's, and one whose page stays as it was. */
  let windows: { live: Page; stale: Page };

  before(async () => {
    windows = { live: await openOwnWindow(), stale: await openOwnWindow() };
  });

  /** A build of two jobs, and the only agent of their queue. */
  const scene = async (steps = [{ command: "make" }, { command: "make install" }]) => {
    const { services, actor, acme } = pages;
    const name = `scene-${++scenes}`;
    const queue = await createQueue(services, actor, acme.cluster, { key: name });
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name,
      steps: steps.map((step) => ({ ...step, agents: { queue: name } })),
    });
    const { build } = await createBuildByHand(services, actor, pipeline, { message: "Faster loops" });
    const token = await agentTokenOf(pages, acme.cluster, { queueId: queue.id });
    const path = `${pages.paths.pipelines}/${name}`;
    return {
      ...{ queue, pipeline, build, pipelinePath: path, path: `${path}/builds/1` },
      agent: await startAgent(pages.url, token, { name }),
    };
  };
  const openOwnWindow = async () =>
    openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.bob),
      javaScriptEnabled: false,
    });
  const openIn = async (page: Page, path: string) => {
    await page.goto(path);
    return page;
  };
  const open = (path: string) => openIn(windows.live, path);
  const openStale = (path: string) => openIn(windows.stale, path);
  const pressKey = async (page: Page, name: string): Promise<Response> => {
    await tabTo(page, name);
    return follow(page, () => page.keyboard.press("Enter"));
  };
  const waitForHeading = async (page: Page, text: string) => {
    await page.reload();
    await page.getByRole("heading", { level: 1, name: text }).waitFor();
  };
  const buttons = async (page: Page) => {
    const names = await page.getByRole("main").getByRole("button").allInnerTexts();
    return names.map((name) => name.replace(/\s+/g, " "));
  };
  const notice = (page: Page) => page.locator("main > .notice").innerText();
  const alert = (page: Page) => page.getByRole("alert").innerText();
  const buildsOf = async (pipelineId: string) => {
    const { db } = pages.services;
    const { builds } = db.tables;
    return db.select().from(builds).where(eq(builds.pipelineId, pipelineId)).orderBy(asc(builds.number));
  };
  const jobsOf = async (buildId: string) => {
    const { db } = pages.services;
    const { jobs } = db.tables;
    return db.select().from(jobs).where(eq(jobs.buildId, buildId)).orderBy(asc(jobs.position), asc(jobs.id));
  };
  const statesOf = async (buildId: string) => (await jobsOf(buildId)).map(({ state }) => state);

  it("cancels a build, which ends once the agent has stopped its job", async () => {
    const { agent, build, path, pipeline } = await scene();
    const jobId = (await agent.offered()) ?? "";
    const job = await agent.begin(jobId);
    const page = await open(path);
    const stale = await openStale(path);
    assert.equal(await heading(page), "Build #1 running");

    assert.equal((await pressKey(page, "Cancel build")).status(), 200);

    assert.equal(await heading(page), "Build #1 canceling");
    assert.equal(await notice(page), "You have canceled the build.");
    assert.deepEqual(await statesOf(build.id), ["canceling", "canceled"]);
    assert.ok(!(await buttons(page)).some((name) => /^Cancel/.test(name)), "there is nothing left to cancel");
    await agent.finish(jobId, -1, job.token);
    await waitForHeading(page, "Build #1 canceled");
    assert.match(await mainText(page), /Canceled just now by Bob/);
    assert.equal((await buildsOf(pipeline.id))[0]?.state, "canceled");

    assert.equal((await pressKey(stale, "Cancel build")).status(), 422);
    assert.match(await alert(stale), /Build cannot be canceled: it has finished already/);
    assert.equal(await heading(stale), "Build #1 canceled");
  });

  it("cancels a job, and the build goes on without it", async () => {
    const { build, path } = await scene();
    const page = await open(path);

    await pressKey(page, "Cancel make install");

    assert.equal(await notice(page), "You have canceled the job.");
    assert.deepEqual(await statesOf(build.id), ["scheduled", "canceled"]);
    assert.equal(await heading(page), "Build #1 failing");
    assert.ok((await buttons(page)).includes("Cancel make"));
    assert.ok((await buttons(page)).includes("Retry make install"));
  });

  it("retries a failed job, once", async () => {
    const { agent, build, path } = await scene();
    await agent.runOne(3);
    await agent.runOne(0);
    const page = await open(path);
    const stale = await openStale(path);
    assert.equal(await heading(page), "Build #1 failed");
    assert.match(await mainText(page), /make failed exit status 3/);

    await pressKey(page, "Retry make");

    assert.equal(await notice(page), "The job is retried.");
    assert.equal(await heading(page), "Build #1 running");
    assert.match(await mainText(page), /make 1 earlier attempt/);
    const [failed, retry] = await jobsOf(build.id);
    assert.deepEqual([failed?.state, failed?.retriedInJobId], ["failed", retry?.id]);
    assert.deepEqual([retry?.state, retry?.retryType], ["scheduled", "manual"]);

    assert.equal((await pressKey(stale, "Retry make")).status(), 422);
    assert.match(await alert(stale), /Job cannot be retried: it has been retried already/);
    assert.deepEqual(await statesOf(build.id), ["failed", "scheduled", "passed"]);

    await agent.runOne(0);
    await waitForHeading(page, "Build #1 passed");
    assert.ok(!(await buttons(page)).some((name) => /^Retry failed/.test(name)));
  });

  it("retries all failed jobs at once", async () => {
    const { agent, build, path } = await scene([
      { command: "lint" },
      { command: "make" },
      { command: "test" },
    ]);
    for (const exitStatus of [1, 0, 2]) await agent.runOne(exitStatus);
    const page = await open(path);
    const stale = await openStale(path);
    const states = () => statesOf(build.id);

    await pressKey(page, "Retry 2 failed jobs");

    assert.equal(await notice(page), "The failed jobs are retried.");
    assert.equal(await heading(page), "Build #1 running");
    assert.deepEqual(await states(), ["failed", "scheduled", "passed", "failed", "scheduled"]);
    assert.equal((await pressKey(stale, "Retry 2 failed jobs")).status(), 422);
    assert.match(await alert(stale), /No failed job can be retried: there is none/);
    await agent.runOne(0);
    await agent.runOne(3);
    await waitForHeading(page, "Build #1 failed");
    assert.ok((await buttons(page)).includes("Retry failed job"));
  });

  it("builds again", async () => {
    const { build, path, pipeline, pipelinePath } = await scene();
    const page = await open(path);

    await pressKey(page, "Rebuild");

    assert.equal(await notice(page), "The build is created.");
    assert.equal(await heading(page), "Build #2 scheduled");
    assert.equal(new URL(page.url()).pathname, `${pipelinePath}/builds/2`);
    assert.match(await mainText(page), /Faster loops .* by Bob/);
    const [, second] = await buildsOf(pipeline.id);
    assert.deepEqual(
      [second?.rebuiltFromId, second?.creatorId, second?.source],
      [build.id, pages.bob.id, "ui"],
    );
  });

  it("is told why a job cannot be retried", async () => {
    const { agent, path, pipeline, queue } = await scene([{ command: "make" }]);
    await agent.runOne(1);
    const page = await open(path);
    const { services, actor } = pages;
    await updatePipeline(services, actor, pipeline, { steps: [{ command: "make" }] });
    await deleteQueue(services, actor, queue);
    await page.reload();

    assert.equal((await pressKey(page, "Retry make")).status(), 422);

    assert.match(await alert(page), /Job cannot be retried: its queue was deleted/);
    assert.equal(await heading(page), "Build #1 failed");
    assert.equal((await buildsOf(pipeline.id)).length, 1);
  });

  it("makes a build with the form on the pipeline's page", async () => {
    const { pipeline, pipelinePath } = await scene();
    const page = await open(pipelinePath);
    await tabTo(page, "New build");
    await page.keyboard.press("Enter");
    await fillByKeyboard(page, { Message: "By hand", Branch: "feature/loops", Commit: "9f2c1e07" });
    await fillByKeyboard(page, { "Environment variables": "COLOUR red" });

    assert.equal((await pressKey(page, "Create build")).status(), 422);

    assert.match(await alert(page), /line 1/i);
    assert.equal(
      await page.getByLabel("Message", { exact: true }).inputValue(),
      "By hand",
      "keeps what was typed",
    );
    assert.equal((await buildsOf(pipeline.id)).length, 1);
    await page.locator("#field-environment:focus").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("COLOUR=red");

    await pressKey(page, "Create build");

    assert.equal(await notice(page), "The build is created.");
    assert.equal(await heading(page), "Build #2 scheduled");
    assert.match(await mainText(page), /By hand .*Commit 9f2c1e07( Copy)? Branch feature\/loops .* by Bob/);
    const [, made] = await buildsOf(pipeline.id);
    assert.deepEqual(
      [made?.message, made?.branch, made?.commit, made?.source],
      ["By hand", "feature/loops", "9f2c1e07", "ui"],
    );
  });

  it("cannot send a form of another session", async () => {
    const { build, path, pipeline } = await scene();
    for (const button of ["Cancel build", "Rebuild", "Cancel make"]) {
      const page = await openStale(path);
      await signInAgain(page);

      assert.equal((await pressKey(page, button)).status(), 403, button);

      assert.match(await mainText(page), /This form is out of date\. Go back, load the page again/);
    }
    assert.deepEqual(await statesOf(build.id), ["scheduled", "scheduled"]);
    assert.equal((await buildsOf(pipeline.id)).length, 1);

    const page = await openStale(path);
    await signInAgain(page);
    await page.reload();
    await pressKey(page, "Cancel build");
    assert.equal(await heading(page), "Build #1 canceled");
  });

  it("signs in again if the session has ended, and comes back to the build as it is", async () => {
    const { build, path } = await scene();
    const page = await openStale(path);
    await page.context().clearCookies();

    await pressKey(page, "Cancel build");

    assert.equal(await heading(page), "Sign in");
    await page.getByLabel("Email address").fill(pages.bob.email);
    await page.getByLabel("Password").fill(password);
    await press(page, "Sign in");
    assert.equal(await heading(page), "Build #1 scheduled");
    assert.deepEqual(await statesOf(build.id), ["scheduled", "scheduled"], "the form was not sent again");
  });

  it("who is one no longer can do nothing", async () => {
    const { build, path, pipeline } = await scene();
    const page = await openStale(path);
    await removeMember(pages.services, { organization: "acme", email: pages.bob.email });

    assert.equal((await pressKey(page, "Cancel build")).status(), 404);

    assert.match(await mainText(page), /does not exist, or you are not a member of it/);
    for (const action of ["cancel", "rebuild", `jobs/${(await jobsOf(build.id))[0]?.id}/cancel`])
      assert.equal((await page.goto(`${path}/${action}`))?.status(), 404, action);
    assert.deepEqual(await buttons(page), []);
    assert.deepEqual(await statesOf(build.id), ["scheduled", "scheduled"]);
    assert.equal((await buildsOf(pipeline.id)).length, 1);
  });

  /** As in another tab. */
  async function signInAgain(page: Page): Promise<void> {
    const [name = "", value = ""] = (await pages.cookieOf(pages.bob)).split("=");
    await page.context().addCookies([{ name, value, url: pages.url }]);
  }

  async function fillByKeyboard(page: Page, fields: Record<string, string>): Promise<void> {
    for (const [label, text] of Object.entries(fields)) {
      await tabTo(page, label);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    }
  }
});
