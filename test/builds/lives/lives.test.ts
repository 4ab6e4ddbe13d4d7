import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { finalWorkMs, workMsOfJobs } from "../../../shared/builds/rows/work.ts";
import { finishedBuildStates, runningJobStates } from "../../../shared/vocabulary.ts";
import { randomNumbers } from "../../graph/random-builds.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import { openApi } from "../../helpers/api.ts";
import { openSettling } from "../../helpers/builds.ts";
import { describeOnBothDatabases, type TestDatabase } from "../../helpers/databases.ts";
import { repeat } from "../../helpers/run-mode.ts";
import { hearAll, openNewsCheck } from "../../news/check.ts";
import { type ModelBuild, type ModelJob, openModel, type Rows } from "./model.ts";
import { randomPipelines, stepOf } from "./pipelines.ts";

const firstSeed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
const lives = Number(process.env.TEST_LIVES ?? repeat(1, 2));
const events = 120;
const maxOpenBuilds = 10;

describeOnBothDatabases(
  "builds of three pipelines that trigger each other and share two groups",
  (database) => {
    it("live as their slow model, through failures, retries, cancels and people", async (context) => {
      for (let seed = firstSeed; seed < firstSeed + lives; seed++) {
        context.diagnostic(`TEST_SEED=${seed} TEST_LIVES=1`);
        await liveOnce(database, seed).catch((error: Error) => {
          error.message = `TEST_SEED=${seed} TEST_LIVES=1: ${error.message}`;
          throw error;
        });
      }
    });
  },
);

/** A build works while one of its jobs runs. Once it has ended, its work is theirs. */
function checkWork(
  build: Build,
  jobs: Pick<Job, "buildId" | "type" | "state" | "startedAt" | "finishedAt">[],
  told: string,
) {
  const own = jobs.filter(({ buildId }) => buildId === build.id);
  const isRunning = own.some(({ state }) => runningJobStates.includes(state));
  assert.equal(build.workingSince !== null, isRunning, `${told}the work of ${build.id}`);
  // The job of a trigger step that runs again keeps its first start.
  if (build.startedAt && build.finishedAt && own.every(({ type }) => type !== "trigger"))
    assert.equal(finalWorkMs(build), workMsOfJobs(own), `${told}the work of ${build.id}`);
}

async function liveOnce(database: TestDatabase, seed: number): Promise<void> {
  const numbers = randomNumbers(seed);
  const random = (below: number) => Math.floor(numbers() * below);
  const pick = <T>(list: T[]): T | undefined => list[random(list.length)];
  const api = await openApi(database);
  const { services, clock } = api.world;
  // Each transaction has a time of its own: who came first is then certain.
  const { now } = clock;
  clock.freeze();
  clock.now = () => {
    clock.advance(1);
    return now();
  };
  const { settle, close } = openSettling(services);
  await hearAll(services, { organizationId: api.acme.id, userId: api.admin.id });
  const news = openNewsCheck(services);
  const { pipelines, groups } = randomPipelines(random);
  const model = openModel(pipelines, groups);
  const queue = await api.newQueue();
  const slugs: string[] = [];
  const ids: string[] = [];
  for (const place of [2, 1, 0]) {
    const shapes = pipelines[place] ?? [];
    const steps = shapes.map((shape) => stepOf(shape, { groups, queue: queue.key, slugs }));
    const { id, slug } = await api.newPipeline({ steps });
    slugs[place] = slug;
    ids[place] = id;
  }
  const token = await agentTokenOf(api.world, api.acme.cluster);
  const newAgent = (name: string) =>
    startAgent(api.world.url, token, { name, meta_data: [`queue=${queue.key}`] });
  const idle: ScriptedAgent[] = [];
  for (const name of ["a", "b", "c"]) idle.push(await newAgent(name));
  const busy: { agent: ScriptedAgent; job: ModelJob; token: string }[] = [];
  const story: string[] = [];

  const { builds: buildsTable, jobs: jobsTable } = services.db.tables;
  const read = async () => {
    await settle();
    return {
      builds: await services.db.select().from(buildsTable),
      jobs: await services.db.select().from(jobsTable),
    };
  };
  const numberOf = (rows: Awaited<ReturnType<typeof read>>, build: ModelBuild) =>
    rows.builds.find(({ id }) => id === build.id)?.number;
  const nameOf = ({ build, shape, id }: ModelJob) => `${shape.type} ${shape.key} ${id} of ${build.id}`;
  /** The states of all builds and jobs, by their ids. */
  const statesOf = (
    builds: { id: string; state: string }[],
    jobs: { id: string; state: string; unblockable: boolean }[],
  ) =>
    [
      ...builds,
      ...jobs.map(({ id, state, unblockable }) => ({ id, state: unblockable ? "unblockable" : state })),
    ]
      .map(({ id, state }) => `${id} ${state}`)
      .sort();
  const statesOfModel = () => statesOf(model.builds, model.allJobs());
  const compare = async (rows: Awaited<ReturnType<typeof read>>) => {
    const told = `${story.slice(-12).join("\n")}\n`;
    assert.deepEqual(statesOf(rows.builds, rows.jobs), statesOfModel(), told);
    for (const build of rows.builds) checkWork(build, rows.jobs, told);
    await news.check(rows.builds, rows.jobs, told);
  };
  /** Sends a request about a build or a job, and does the same in the model if it may be. */
  const act = async (
    words: string,
    build: ModelBuild,
    { path = "", may, apply }: { path?: string; may: boolean; apply: (rows: Rows) => void },
  ) => {
    const number = numberOf(await read(), build);
    const sent = await api.send("PUT", `/pipelines/${slugs[build.pipeline]}/builds/${number}${path}`, {
      body: {},
    });
    story.push(`${words}: ${sent.status}`);
    assert.equal(sent.status === 200, may, `${words}: ${sent.status} ${sent.text}\n${story.join("\n")}`);
    const rows = await read();
    if (may) apply(rows);
    await compare(rows);
  };

  const makeBuild = async () => {
    if (model.builds.filter(model.mayCancelBuild).length >= maxOpenBuilds) return;
    const place = random(3);
    const known = new Set(model.builds.map(({ id }) => id));
    await api.build(ids[place] ?? "");
    const rows = await read();
    const made = rows.builds.find(({ id, triggeredByJobId }) => !known.has(id) && triggeredByJobId === null);
    story.push(`pipeline ${place} is built: ${made?.id}`);
    model.created(rows, made?.id ?? "", place);
    await compare(rows);
  };
  /** A free agent asks for a job: it gets one if there is one. */
  const take = async () => {
    const agent = idle.pop();
    if (!agent) return;
    const ready = model
      .allJobs()
      .filter(({ state, shape }) => state === "scheduled" && shape.type === "script");
    const id = await agent.offered();
    const job = ready.find((each) => each.id === id);
    story.push(`an agent takes ${job ? nameOf(job) : id}`);
    assert.equal(job === undefined, ready.length === 0, story.join("\n"));
    if (!job) return void idle.push(agent);
    busy.push({ agent, job, token: (await agent.begin(job.id)).token });
    const rows = await read();
    model.taken(rows, job);
    await compare(rows);
  };
  const end = async (exitStatus: number) => {
    const [ended] = busy.splice(random(busy.length), 1);
    if (!ended) return;
    const { agent, job, token } = ended;
    await agent.finish(job.id, exitStatus, token);
    idle.push(agent);
    story.push(`${nameOf(job)} ends with ${exitStatus}`);
    const rows = await read();
    model.ended(rows, job, exitStatus);
    await compare(rows);
  };
  const unblock = async (isSure: boolean) => {
    const manual = model.allJobs().filter(({ shape: { type } }) => type === "block" || type === "input");
    const job = pick(isSure ? manual.filter(model.mayUnblock) : manual);
    if (!job) return;
    const may = model.mayUnblock(job);
    const apply = (rows: Rows) => model.unblocked(rows, job);
    await act(`unblock ${nameOf(job)}`, job.build, { path: `/jobs/${job.id}/unblock`, may, apply });
  };
  const cancelBuild = async () => {
    const build = pick(model.builds.slice(-8));
    if (!build) return;
    const apply = (rows: Rows) => model.canceledBuild(rows, build);
    await act(`cancel ${build.id}`, build, { path: "/cancel", may: model.mayCancelBuild(build), apply });
  };
  const ofJobs = (types: string[]) =>
    model.builds
      .slice(-8)
      .flatMap(({ jobs }) => jobs)
      .filter(({ shape }) => types.includes(shape.type));
  const cancelJob = async () => {
    const job = pick(ofJobs(["script", "trigger"]));
    if (!job) return;
    const apply = (rows: Rows) => model.canceled(rows, job);
    const path = `/jobs/${job.id}/cancel`;
    await act(`cancel ${nameOf(job)}`, job.build, { path, may: model.mayCancel(job), apply });
  };
  const retry = async (isSure: boolean) => {
    const runs = ofJobs(["script", "trigger"]);
    const job = pick(isSure ? runs.filter(model.mayRetry) : runs);
    if (!job) return;
    const apply = (rows: Rows) => model.retried(rows, job);
    await act(`retry ${nameOf(job)}`, job.build, {
      path: `/jobs/${job.id}/retry`,
      may: model.mayRetry(job),
      apply,
    });
  };

  const happenings: [number, () => Promise<void>][] = [
    [5, makeBuild],
    [8, take],
    [6, () => end(0)],
    [2, () => end(1)],
    [4, () => unblock(true)],
    [1, () => unblock(false)],
    [1, cancelBuild],
    [2, cancelJob],
    [3, () => retry(true)],
    [1, () => retry(false)],
  ];
  const bag = happenings.flatMap(([times, happen]) => Array(times).fill(happen) as (typeof happen)[]);
  for (let event = 0; event < events; event++) await pick(bag)?.();

  /**
   * A build waits for one that it triggered. That one waits, in an ordered group, behind a job of the first which waits for
   * the trigger. Only people can end this.
   */
  const cancelOneOfCircle = async () => {
    const ordered = groups.filter(({ isEager }) => !isEager).map(({ name }) => name);
    const limited = model
      .allJobs()
      .find(({ state, shape }) => state === "limited" && ordered.includes(shape.group ?? ""));
    assert.ok(limited, `nothing goes on\n${story.join("\n")}`);
    const { build } = limited;
    const apply = (rows: Rows) => model.canceledBuild(rows, build);
    await act(`cancel ${build.id}`, build, { path: "/cancel", may: true, apply });
  };

  const isOver = () => model.builds.every(({ state }) => finishedBuildStates.includes(state));
  for (let rounds = 0; !isOver() && rounds < 400; rounds++) {
    const before = statesOfModel();
    await take();
    await end(0);
    await unblock(true);
    if (isDeepStrictEqual(statesOfModel(), before)) await cancelOneOfCircle();
  }
  assert.ok(isOver(), `builds do not end\n${story.join("\n")}`);
  assert.deepEqual(await services.db.select().from(services.db.tables.concurrencyMembers), []);
  await close();
  await api.close();
}
