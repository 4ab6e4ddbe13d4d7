import { createHash } from "node:crypto";
import { openLeaseBatches } from "../../shared/agents/lease-batches.ts";
import { markSeen } from "../../shared/agents/store.ts";
import { buildFigures } from "../../shared/builds/keeping/figures.ts";
import { createBuildByHand } from "../../shared/builds/making/by-request.ts";
import { cancelBuild } from "../../shared/builds/progress/cancel.ts";
import { type Build, listBuildsOfDeliveries } from "../../shared/builds/rows/build-store.ts";
import { tasksOfBuilds } from "../../shared/builds/task-handlers.ts";
import type { Cluster } from "../../shared/clusters/store.ts";
import { sampleQueues } from "../../shared/dispatch/figures.ts";
import { pauseDispatch, resumeDispatch } from "../../shared/dispatch/pause.ts";
import { waitFigures } from "../../shared/dispatch/wait-figures.ts";
import { hourMs, hourOf, minuteMs } from "../../shared/durations.ts";
import { rollUp } from "../../shared/figures/roll-up.ts";
import { sampleMinutes } from "../../shared/figures/samples.ts";
import { requireQueue } from "../../shared/queues/queues.ts";
import type { Queue } from "../../shared/queues/store.ts";
import type { Services } from "../../shared/services/services.ts";
import { openTasks } from "../../shared/tasks/runner.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { deliveryFigures } from "../../shared/triggers/deliveries/figures.ts";
import { openRefusalCounts } from "../../shared/triggers/deliveries/refusal-counts.ts";
import type { RefusedTrigger } from "../../shared/triggers/deliveries/refusals.ts";
import { sendDelivery } from "../../shared/triggers/deliveries/send.ts";
import { connectDemoAgents, type DemoAgents } from "./agents.ts";
import { type DemoPipeline, type DemoWorld, makeDemoWorld } from "./world.ts";

/** So that they are counted by few minutes. */
const arrivalsPerHour = 4;
const everyBuilt = 10;
const everyByHand = 30;
const dividedHours = 26;
/** Of the builds by hand, by their number: the others are of other branches. */
const everyOnMain = 60;

export interface WeekOptions {
  /** Gets numbers between 0 and 1. */
  onProgress(done: number): void;
  /** Fewer than a week's, for tests. */
  days?: number;
  /** Of a working day, on average. Fewer for tests. */
  deliveriesPerHour?: number;
}

interface Week {
  services: Services;
  clock: { at: Date };
  world: DemoWorld;
  agents: DemoAgents;
}

/**
 * Makes an organization with a week of deliveries, refusals and builds, which agents have run. The last hour has builds
 * that wait, run, fail and are being canceled.
 * @param clock is moved through the week, and is that of the services
 */
export async function makeDemoWeek(
  services: Services,
  clock: { at: Date },
  { onProgress, days = 7, deliveriesPerHour = 18 }: WeekOptions,
): Promise<{ organization: string; email: string; password: string; deliveries: number; builds: number }> {
  const hours = days * 24;
  const end = hourOf(new Date()).getTime();
  clock.at = new Date(end - hours * hourMs);
  const world = await makeDemoWorld(services);
  const agents = await connectDemoAgents(services, openLeaseBatches(services), world);
  const week = { services, clock, world, agents };

  const worker = openDueDeliveries(services);
  const refusals = openRefusalCounts(services);
  let deliveries = 0;
  let builds = 0;
  for (let hour = 0; hour < hours; hour++) {
    const startsAt = end - (hours - hour) * hourMs;
    const load = loadOf(new Date(startsAt), deliveriesPerHour);
    for (let at = 0; at < load; at++) {
      const minute = Math.floor((at * arrivalsPerHour) / load) * (60 / arrivalsPerHour);
      clock.at = new Date(startsAt + minute * minuteMs);
      const chosen = pick(world.pipelines, deliveries);
      const isBuilt = deliveries % everyBuilt === 0;
      const id = await deliver(week, chosen, { at: deliveries, isBuilt });
      worker.wake();
      await worker.idle();
      deliveries++;
      const [build] = isBuilt ? await listBuildsOfDeliveries(services.db, [id]) : [];
      const made = build ? [build] : [];
      if (deliveries % everyByHand === 0) made.push(await buildByHand(week, chosen, deliveries));
      for (const each of made) await finish(week, each, builds++);
    }
    await sampleHour(week, startsAt, hours - hour);
    clock.at = new Date(startsAt + hourMs - minuteMs); // after the deliveries of the hour
    countRefusals(refusals, world, hours - hour);
    await pauseAndResume(week, hours - hour);
    onProgress(hour / hours);
  }

  clock.at = new Date();
  builds += await makeLastHour(week);
  await refusals.close();
  await worker.close();
  await services.db.transaction((tx) => markSeen(tx, agents.ids, clock.at));
  await sampleQueues(services);
  for (const source of [deliveryFigures, buildFigures, waitFigures])
    await rollUp(services, source, { maxMinutes: hours * 60 });
  onProgress(1);
  const { organization, person } = world;
  return {
    organization: organization.slug,
    email: person.email,
    password: person.password,
    deliveries,
    builds,
  };
}

/** Samples the queues as a worker does, but only once an hour where charts show whole hours. */
async function sampleHour({ services, clock }: Week, startsAt: number, hoursAgo: number): Promise<void> {
  const everyMinutes = hoursAgo > dividedHours ? 60 : sampleMinutes;
  for (let minute = 0; minute < 60; minute += everyMinutes) {
    clock.at = new Date(startsAt + minute * minuteMs);
    await sampleQueues(services);
  }
}

/** Quiet at night and on Sundays. */
function loadOf(time: Date, deliveriesPerHour: number): number {
  const daylight = Math.sin((time.getUTCHours() / 24) * Math.PI) ** 2;
  const weekday = time.getUTCDay() === 0 ? 0.4 : 1.1;
  return Math.round(deliveriesPerHour * weekday * (0.1 + 1.8 * daylight));
}

function pick(pipelines: DemoPipeline[], at: number): DemoPipeline {
  const drawn = pipelines.flatMap((each) => Array<DemoPipeline>(each.weight).fill(each));
  return drawn[(at * 7) % drawn.length] as DemoPipeline;
}

function exitStatusOf(build: number): number {
  return build % 11 === 5 ? 1 : 0;
}

const changes = [
  "Show the price with tax in the basket",
  "Retry the payment once the bank answers again",
  "Say on the order page when a parcel left the harbour",
  "Find products by their former names",
  "Keep the search index small: leave out what is sold out",
  "Update the dependencies",
  "Fix a typo in the opening hours",
];

function commitOf(at: number): string {
  return createHash("sha1").update(String(at)).digest("hex");
}

async function deliver(
  { services, world }: Week,
  { trigger }: DemoPipeline,
  { at, isBuilt }: { at: number; isBuilt: boolean },
): Promise<string> {
  const push = {
    ref: isBuilt ? "refs/heads/main" : `refs/heads/change-${at % 97}`,
    after: commitOf(at),
    pusher: { name: "Grace" },
    head_commit: { id: commitOf(at), message: changes[at % changes.length] },
  };
  return sendDelivery(
    services,
    { trigger, organization: world.organization },
    { body: Buffer.from(JSON.stringify(push)), event: "push" },
  );
}

async function buildByHand({ services, world }: Week, { pipeline }: DemoPipeline, at: number) {
  const actor = { organization: world.organization, userId: world.person.userId };
  const { build } = await createBuildByHand(services, actor, pipeline, {
    source: "ui",
    branch: at % everyOnMain === 0 ? "main" : `change-${at % 97}`,
    commit: commitOf(at),
    message: changes[at % changes.length] as string,
  });
  return build;
}

function countRefusals(
  refusals: ReturnType<typeof openRefusalCounts>,
  { organization, pipelines }: DemoWorld,
  hoursAgo: number,
): void {
  const [first, second] = pipelines.map(({ trigger: { id } }) => ({
    id,
    organizationId: organization.id,
  })) as [RefusedTrigger, RefusedTrigger];
  if (hoursAgo > 20 && hoursAgo < 35)
    for (let times = 0; times < 9; times++) refusals.count(first, "invalid_signature");
  if (hoursAgo % 40 === 3) refusals.count(second, "form_content_type");
}

/** Every 29th build is canceled instead. */
async function finish({ services, clock, world, agents }: Week, build: Build, at: number): Promise<void> {
  const pipeline = world.pipelines.find((each) => each.pipeline.id === build.pipelineId)?.pipeline;
  if (at % 29 === 7 && pipeline) await cancelBuild(services, world.actor, pipeline, build.number);
  else await agents.run(build, clock, exitStatusOf(at));
}

async function pauseAndResume({ services, clock, world, agents }: Week, hoursAgo: number): Promise<void> {
  const present = async (key: string) => {
    const { id, clusterId } = world.queues.get(key) as Queue;
    const cluster = world.clusters.find((each) => each.id === clusterId) as Cluster;
    return requireQueue(services.db, cluster, id);
  };
  const pause = async (key: string, note: string) =>
    pauseDispatch(services, world.actor, await present(key), note);
  if (hoursAgo === 40) await pause("database", "Maintenance of the database server");
  if (hoursAgo === 34) {
    await resumeDispatch(services, world.actor, await present("database"));
    for (const build of agents.takeWaiting()) await agents.run(build, clock, 0);
  }
  if (hoursAgo === 4) await pause("signing", "The certificate is being renewed");
}

/** Builds that wait, run, fail and are being canceled, one of a branch that is not deployed, and releases. @returns their number */
async function makeLastHour(week: Week): Promise<number> {
  const { services, world, agents } = week;
  const [shop, index, handbook, app, deployment] = world.pipelines as [
    ...[DemoPipeline, DemoPipeline, DemoPipeline, DemoPipeline, DemoPipeline],
  ];
  const make = (chosen: DemoPipeline, at: number) => buildByHand(week, chosen, at);
  await make(deployment, everyOnMain);
  await make(deployment, 1);
  await make(app, 2);
  await agents.begin(await make(shop, 3));
  await agents.begin(await make(index, 4));
  const failing = await make(app, 5);
  const fail = await agents.begin(failing);
  await fail();
  await agents.begin(failing);
  const canceling = await make(handbook, 6);
  await agents.begin(canceling);
  await cancelBuild(services, world.actor, handbook.pipeline, canceling.number);
  return 7 + (await makeReleases(week));
}

/** Builds that wait for a person, and two of a branch: the newer one made the older one outdated. @returns their number */
async function makeReleases({ services, world }: Week): Promise<number> {
  const tasks = openTasks(services, tasksOfBuilds);
  const actor = { organization: world.organization, userId: world.person.userId };
  const branches = ["main", "hotfix", "rollout", "nightly", "nightly"];
  for (const [at, branch] of branches.entries()) {
    const wanted = { source: "ui", branch, commit: commitOf(at), message: `Release ${at + 1}` } as const;
    await createBuildByHand(services, actor, world.releases, wanted);
    await tasks.idle();
  }
  await tasks.close();
  return branches.length;
}
