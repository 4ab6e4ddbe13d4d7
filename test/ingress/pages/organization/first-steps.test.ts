import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../../shared/accounts/audit.ts";
import {
  asOperator,
  createOrganization,
  requireOrganization,
} from "../../../../shared/accounts/organizations.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { dayMs } from "../../../../shared/durations.ts";
import { newId } from "../../../../shared/ids.ts";
import { createPipeline, requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../../shared/pipelines/provider/webhook-store.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { Role } from "../../../../shared/vocabulary.ts";
import { startAgent } from "../../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { eventually, post } from "../../../helpers/http.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { signed } from "../../../pipelines/provider/provider-api.ts";
import { runOperator } from "../../../scripts/operator.ts";
import { githubPush } from "../../../sources/github-payloads.ts";

describeWorldOn(sqlite, "the first steps of an organization", startQueuePages, (pages) => {
  let made = 0;
  before(() => pages.startWorkers());

  /** An organization with nothing in it, as one of its members sees it. */
  const fresh = async (role: Role = "admin") => {
    const organization = await createOrganization(pages.services, { slug: `fresh-${++made}`, name: "Fresh" });
    const person = await pages.visitor(await addPerson(pages, organization, role));
    const path = `/organizations/${organization.slug}`;
    const rows = async () => {
      const { text } = await person.get(path);
      const lists = [...text.matchAll(/<ol class="rows checklist".*?<\/ol>/gs)].join("");
      return [...lists.matchAll(/<li.*?<\/li>/gs)].map(([row]) => readStep(row));
    };
    return {
      path,
      person,
      rows,
      operator: await asOperator(pages.services.db, organization),
      /** The first step that is to be done. */
      next: async () => (await rows()).find(({ isDone }) => !isDone),
      /** Of a step that has this in its text. */
      step: async (text: string) =>
        (await rows()).find((row) => row.text.includes(text)) ?? assert.fail(text),
    };
  };
  const readStep = (row: string) => {
    const texts: Record<string, string> = { amp: "&", quot: '"', "#39": "'", lt: "<" };
    const plain = (html = "") => html.replace(/&(amp|quot|#39|lt);/g, (_, name) => texts[name] ?? "");
    return {
      text: plain(row.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ")),
      isDone: row.includes("Done: "),
      link: plain(/<a href="([^"]*)"/.exec(row)?.[1]) || undefined,
      command: plain(/data-text="([^"]*)"/.exec(row)?.[1]) || undefined,
    };
  };
  /** Runs an operator's command as a shell would. @returns what it prints */
  const run = async (command = "") => {
    const [, input = "", words] = /^(?:echo '(.*)' \| )?npm run -s admin -- (.*)$/.exec(command) ?? [];
    assert.ok(words, command);
    const args = execFileSync("sh", ["-c", `printf '%s\\0' ${words}`], { encoding: "utf8" });
    const { code, stdout, stderr } = await runOperator(pages, args.split("\0").slice(0, -1), { input });
    assert.deepEqual([code, stderr], [0, ""], command);
    return JSON.parse(stdout);
  };

  /** Stands for a device of the organization's only member. @returns a function that signs it out */
  const addGrant = async (slug: string) => {
    const { db, clock } = pages.services;
    const { members, grants, applications } = db.tables;
    const organization = await requireOrganization(db, slug);
    const [member = assert.fail()] = await db
      .select()
      .from(members)
      .where(eq(members.organizationId, organization.id));
    const [application = assert.fail()] = await db.select().from(applications).limit(1);
    const { organizationId, userId } = member;
    const times = { createdAt: clock.now(), lastUsedAt: null };
    const id = newId(clock.now());
    await db.transaction((tx) =>
      tx
        .insert(grants)
        .values({ id, applicationId: application.id, organizationId, userId, scopes: [], ...times }),
    );
    return () => db.transaction((tx) => tx.delete(grants).where(eq(grants.id, id)));
  };

  const addPassedBuild = async (operator: Actor, slug: string) => {
    const { services } = pages;
    const pipeline = await requirePipeline(services.db, operator.organization.id, slug);
    const { build } = await createBuildByHand(services, operator, pipeline, {});
    const { builds } = services.db.tables;
    await services.db.transaction((tx) =>
      tx.update(builds).set({ state: "passed", finishedAt: tx.now }).where(eq(builds.id, build.id)),
    );
  };

  it("lead from nothing to a build that passes, each by its command", async () => {
    const { path, person, next, rows, operator } = await fresh();
    assert.deepEqual(
      (await rows()).map(({ isDone }) => isDone),
      Array(9).fill(false),
    );
    const doNext = async (text: string) => {
      const step = await next();
      assert.match(step?.text ?? "", new RegExp(`To do: ${text}`));
      return run(step?.command);
    };

    await doNext("Create a cluster");
    assert.equal((await doNext("Create its first queue")).default, true);
    const { token } = await doNext("Make a registration token");
    assert.equal((await next())?.command, "npm run agent -- start --token TOKEN --queue default");
    const agent = await startAgent(pages.url, token, { meta_data: ["queue=default"] });
    await doNext("Create a pipeline");
    await doNext("Give Hello a trigger");
    await doNext("Send the first delivery");
    await eventually("the build", async () =>
      /\/pipelines\/hello\/builds\/1$/.test((await next())?.link ?? ""),
    );
    const build = await next();
    assert.match(build?.text ?? "", /To do: See its build pass/);
    assert.equal((await person.get(build?.link ?? "")).status, 200);
    await eventually("the job", () => agent.runOne());
    await eventually("the build passes", async () =>
      /To do: Connect a device/.test((await next())?.text ?? ""),
    );

    const read = async () => (await person.get(path)).text;
    assert.match(await read(), /First steps: 1 to do<.*This list goes away one day after/s);
    const removeGrant = await addGrant(path.split("/").at(-1) ?? "");
    assert.doesNotMatch(await read(), /First steps/, "all are done");
    await removeGrant();
    assert.match(await read(), /First steps: 1 to do</);
    pages.clock.advance(dayMs);
    assert.doesNotMatch(await read(), /First steps/);
    await addPassedBuild(operator, "hello");
    assert.doesNotMatch(await read(), /First steps/, "a later build that passes changes nothing");
  });

  it("are those that are to do; the others are folded", async () => {
    const { path, person, rows, operator } = await fresh();
    const read = async () => (await person.get(path)).text;
    assert.doesNotMatch(await read(), /done already/);
    const cluster = await createCluster(pages.services, operator, { name: "Primary" });
    await createQueue(pages.services, operator, cluster, { key: "default", isDefault: true });

    const text = await read();

    assert.match(text, /First steps: 7 to do</);
    const [, folded = ""] = /<details id="done-steps" class="fold"(.*?)<\/details>/s.exec(text) ?? [];
    assert.match(folded, /<summary>2 done already<.*Create a cluster.*Create its first queue/s);
    const states = (await rows()).map(({ isDone }) => isDone);
    assert.deepEqual(states, [...Array(7).fill(false), true, true], "those to do come first");
  });

  it("lead to the page where each is done, once the steps before it are", async () => {
    const { path, person, step, operator } = await fresh();
    const { services } = pages;
    const leads = async (text: string, address: RegExp | undefined) => {
      const { link } = await step(text);
      if (!address) return assert.equal(link, undefined, text);
      assert.match(link ?? "", address, text);
      assert.equal((await person.get(link ?? "")).status, 200, link);
    };
    await leads("Create a cluster", /\/clusters#new-cluster$/);
    for (const later of ["first queue", "registration token", "Start an agent", "or give it a trigger"])
      await leads(later, undefined);

    const cluster = await createCluster(services, operator, { name: "It's" });
    await leads("first queue", new RegExp(`/clusters/${cluster.id}/queues/new$`));
    await leads("registration token", /\?unfold=new-token#new-token$/);
    assert.match((await step("first queue")).command ?? "", / --cluster 'It'\\''s' /);
    const queue = await createQueue(services, operator, cluster, { key: "gpu", isDefault: true });
    await leads("Start an agent", new RegExp(`/queues/${queue.id}#agents$`));
    await leads("Create a pipeline", /\/new-pipeline$/);
    assert.equal((await step("first queue")).command, undefined, "it is done");

    await createPipeline(services, operator, {
      clusterId: cluster.id,
      name: "Web",
      steps: [{ command: "make" }],
    });
    await leads("Give Web a trigger", new RegExp(`${path}/pipelines/web/triggers/new$`));
    assert.match((await step("Send the first delivery")).text, /Replace TRIGGER by the id that the command/);
    const trigger = await run((await step("Give Web a trigger")).command);
    await leads("Send the first delivery", new RegExp(`/triggers/${trigger.id}/send$`));
    await leads("See its build pass", /\/pipelines\/web$/);
    assert.doesNotMatch((await step("Send the first delivery")).text, /Replace/);
  });

  it("name the source host of a pipeline in place of a trigger", async () => {
    const { step, operator } = await fresh();
    const { services } = pages;
    const cluster = await createCluster(services, operator, { name: "Primary" });
    const repository = "https://github.com/acme/app.git";
    const input = { clusterId: cluster.id, name: "App", repository, steps: [{ command: "make" }] };
    await createQueue(services, operator, cluster, { key: "default", isDefault: true });
    const pipeline = await createPipeline(services, operator, input);

    const source = await step("Set up the webhook of App at GitHub");
    assert.match(source.link ?? "", /\/pipelines\/app\/provider$/);
    const row = await findWebhook(services.db, { pipelineId: pipeline.id });
    const { webhookUrl, secret } = openWebhook(services, row ?? assert.fail());
    assert.deepEqual(await run(source.command), { webhook_url: webhookUrl, secret });

    const deliver = async (event: string) => {
      const body = JSON.stringify(githubPush());
      const headers = { "X-GitHub-Event": event, ...signed(secret ?? "", body) };
      const { status } = await post(pages.url + new URL(webhookUrl).pathname, body, headers);
      assert.equal(status, 201);
    };
    await deliver("ping");
    assert.equal((await step("Set up the webhook of App at GitHub")).isDone, true);
    assert.match((await step("Push a commit")).command ?? "", /^git commit --allow-empty /);
    await deliver("push");
    await eventually("the build", async () => (await step("Push a commit")).isDone);
  });

  it("begin with an organization that the operator makes, by the commands of a page", async () => {
    const member = await pages.visitor(pages.bob);
    assert.match(
      (await member.get("/organizations/acme")).text,
      /<a href="\/new-organization">New organization</,
    );
    const { text } = await member.get("/new-organization");
    assert.match(text, /Only the operator makes organizations/);
    const [, commands = ""] = /<textarea id="commands"[^>]* wrap="off"[^>]*>([^<]*)</.exec(text) ?? [];
    assert.equal(commands.split("\n").length, 2);

    for (const command of commands.split("\n")) await run(command.replace(/(--slug|--org) acme/, "$1 novel"));

    const home = (await member.get("/organizations/novel")).text;
    assert.match(home, /First steps: 9 to do/);
    assert.doesNotMatch(home, /An admin of the organization does this/, "the member is its admin");
  });

  it("say to members what only admins do", async () => {
    const { step } = await fresh("member");
    for (const text of ["Create a cluster", "Create its first queue", "Make a registration token"]) {
      const { link, text: said } = await step(text);
      assert.equal(link, undefined);
      assert.match(said, /An admin of the organization does this/);
    }
    assert.match((await step("Create a pipeline")).link ?? "", /new-pipeline$/);
  });
});
