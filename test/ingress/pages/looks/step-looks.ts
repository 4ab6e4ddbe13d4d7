import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import type { GivenAnswers } from "../../../../shared/builds/meta-data/answers.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { press } from "../../../helpers/browser.ts";
import { openSettling } from "../../../helpers/builds.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

/** Paths of pages. */
interface Exhibits {
  steps: Record<"group" | "limited" | "triggering", string>;
}

const of = (pipeline: string) => `/organizations/globex/pipelines/${pipeline}`;
const rollout = `${of("rollout")}/builds`;

const sendWithoutChecks = async (page: Page, form: string, button: string) => {
  await page.evaluate((selector) => document.querySelector(selector)?.setAttribute("novalidate", ""), form);
  await press(page, button);
};
const wrongAnswers = async (page: Page) => {
  await page.goto(`${rollout}/1`);
  await page.getByLabel("Version").fill("two");
  await page.getByLabel("Berlin").uncheck();
  await sendWithoutChecks(page, 'main form[action$="/unblock"]', "Roll out What is rolled out?");
};
const openQuestions = async (page: Page) => {
  await page.goto(of("rollout"));
  await page.locator("#new-build summary").click();
};
const wrongQuestions = async (page: Page) => {
  await openQuestions(page);
  await sendWithoutChecks(page, "#new-build form", "Create build");
};

export const stepLooks: Look<Exhibits>[] = [
  { name: "a build, blocked", as: "ada", visit: (page) => page.goto(`${rollout}/1`) },
  { name: "a build, blocked, wrong answers", as: "ada", visit: wrongAnswers },
  { name: "a build, unblocked", as: "ada", visit: (page) => page.goto(`${rollout}/2`) },
  {
    name: "a build, blocked after a failure",
    as: "ada",
    visit: (page) => page.goto(`${of("recall")}/builds/1`),
  },
  {
    name: "a build, blocked for admins",
    as: "bob",
    visit: (page) => page.goto("/organizations/acme/pipelines/secrets/builds/1"),
  },
  {
    name: "builds, blocked",
    as: "ada",
    visit: (page) => page.goto("/organizations/globex/builds?state=blocked"),
  },
  { name: "a pipeline, steps of all kinds", as: "ada", visit: (page) => page.goto(of("umbrella")) },
  { name: "a new build, first questions", as: "ada", visit: openQuestions },
  { name: "a new build, first questions, refused", as: "ada", visit: wrongQuestions },
  { name: "a build, triggers others", as: "ada", visit: (page) => page.goto(`${of("umbrella")}/builds/1`) },
  { name: "a build, triggered", as: "ada", visit: (page) => page.goto(`${of("child")}/builds/1`) },
  { name: "a job, triggers", as: "ada", visit: (page, { steps }) => page.goto(steps.triggering) },
  { name: "concurrency groups", as: "ada", visit: (page) => page.goto("/organizations/globex/groups") },
  { name: "concurrency groups, none", as: "bob", visit: (page) => page.goto("/organizations/acme/groups") },
  { name: "a concurrency group", as: "ada", visit: (page, { steps }) => page.goto(steps.group) },
  { name: "a job, limited", as: "ada", visit: (page, { steps }) => page.goto(steps.limited) },
];

const cities = ["Berlin", "Lisbon", "A warehouse in Thessaloniki that only works at night"];
const options = cities.map((label) => ({ label, value: label.toLowerCase() }));
const fields = [
  { text: "Version", key: "version", hint: "Such as v12", format: "v\\d+" },
  { text: "What changed", key: "notes", required: false, hint: "Everybody who can read builds can read it." },
  { select: "Where first", key: "first", options },
  { select: "Where else", key: "else", options, multiple: true, default: ["berlin"] },
];

/** Makes builds that wait for people, that trigger others, and that share a concurrency group. */
export async function exhibitSteps(pages: Pages): Promise<Exhibits["steps"]> {
  const { services, ada } = pages;
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const cluster = await createCluster(services, actor, { name: "Foundry" });
  await createQueue(services, actor, cluster, { key: "molds", isDefault: true });
  const settling = openSettling(services);
  const add = async (name: string, ...steps: unknown[]) => {
    const given = { clusterId: cluster.id, name, steps: pipelineSteps.parse(steps) };
    const pipeline = await createPipeline(services, actor, given);
    return async (message = "Heavier anvils", answers: GivenAnswers[] = []) => {
      await createBuildByHand(services, actor, pipeline, { message, answers, source: "ui" });
      await settling.settle();
    };
  };
  await exhibitBlocks(add);
  await exhibitBlockForAdmins(pages);
  await exhibitTriggers(add);
  await exhibitGroup(add);
  await settling.close();
  return pathsOf(pages);
}

/** @returns what makes a build */
type Add = (
  name: string,
  ...steps: unknown[]
) => Promise<(message?: string, answers?: GivenAnswers[]) => Promise<void>>;

async function exhibitBlocks(add: Add): Promise<void> {
  const what = {
    input: "What is rolled out?",
    key: "what",
    submit: "Roll out",
    fields,
    prompt: "Its version is tagged at once. The deployment waits for the block below.",
  };
  const who = { input: "Who watches it?", fields: [{ text: "Name", key: "watcher" }], allowed_teams: "ops" };
  const tag = { command: "./tag.sh", label: "Tag", depends_on: "what" };
  const release = { block: "Release to production?", key: "release" };
  const deploy = { command: "./deploy.sh production", label: "Deploy" };
  const rollOut = await add("Rollout", what, who, tag, release, deploy);
  await rollOut();
  await rollOut("Lighter anvils", [{ version: "v12", first: "lisbon" }]);
  const recall = await add("Recall", { block: "Call them back?", blocked_state: "failed" }, deploy);
  await recall("Anvils of glass");
}

async function exhibitBlockForAdmins({ services, acme, ada }: Pages): Promise<void> {
  const actor = { organization: acme, userId: ada.id };
  const steps = pipelineSteps.parse([{ block: "Show them?", allowed_teams: "ops", fields }]);
  const given = { clusterId: acme.cluster.id, name: "Secrets", steps };
  await createBuildByHand(services, actor, await createPipeline(services, actor, given), {});
}

async function exhibitTriggers(add: Add): Promise<void> {
  await add("Child", { command: "./pour.sh", label: "Pour" });
  const umbrella = await add(
    "Umbrella",
    { trigger: "child", label: "Pour the iron" },
    { trigger: "child", async: true },
    { trigger: "what-somebody-renamed-on-a-friday-afternoon-without-a-word" },
    { group: "Afterwards", steps: [{ wait: null, continue_on_failure: true }, { command: "./sweep.sh" }] },
    { block: "Sell?", allowed_teams: "ops", fields },
    { command: "./sell.sh", concurrency: 2, concurrency_group: "sales", concurrency_method: "eager" },
  );
  await umbrella();
}

/** Three builds go through a gate. */
async function exhibitGroup(add: Add): Promise<void> {
  const gate = { concurrency: 1, concurrency_group: "deployments-to-production" };
  const release = await add("Releases", { command: "./open.sh", ...gate }, "wait", {
    command: "./close.sh",
    label: "Close the gate",
    ...gate,
  });
  for (let made = 0; made < 3; made++) await release();
}

async function pathsOf({ services: { db } }: Pages): Promise<Exhibits["steps"]> {
  const { concurrencyGroups, jobs, builds, pipelines } = db.tables;
  const found = await db
    .select({ id: jobs.id, type: jobs.type, state: jobs.state, number: builds.number, slug: pipelines.slug })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId));
  const pathOf = (isIt: (job: (typeof found)[number]) => boolean) => {
    const job = found.find(isIt);
    return `${of(job?.slug ?? "")}/builds/${job?.number}/jobs/${job?.id}`;
  };
  const groups = await db.select().from(concurrencyGroups);
  const group = groups.find(({ name }) => name.startsWith("deployments"));
  return {
    group: `/organizations/globex/groups/${group?.id}`,
    limited: pathOf(({ state }) => state === "limited"),
    triggering: pathOf(({ type }) => type === "trigger"),
  };
}
