import { getRouterParam } from "h3";
import { z } from "zod";
import { storageFull } from "../../shared/accounts/storage.ts";
import { createBuildByHand, newBuild, newBuildProblems } from "../../shared/builds/making/by-request.ts";
import { rebuild } from "../../shared/builds/making/rebuild.ts";
import { cancelBuild } from "../../shared/builds/progress/cancel.ts";
import { countJobStates, type InTurn } from "../../shared/builds/reading/answer-store.ts";
import { listBuildAddresses } from "../../shared/builds/reading/list.ts";
import { measurePage, requireBuild } from "../../shared/builds/reading/require.ts";
import { retryFailedJobs } from "../../shared/builds/retry.ts";
import type { Build } from "../../shared/builds/rows/build-store.ts";
import { listWarnings } from "../../shared/builds/rows/graph-store.ts";
import { patterns } from "../../shared/paths.ts";
import { buildSchema, retriedBuildSchema } from "../../shared/presenters/build.ts";
import { excerpt, Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { longReads } from "../../shared/sharing/resources.ts";
import { type Failure, failures } from "../../shared/vocabulary.ts";
import { readPage } from "../http/number-pager.ts";
import { parseBuildKey } from "../http/routing.ts";
import { answerJson, inBrackets, requireSome } from "../http/transfers/json-stream.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import {
  allOfBuild,
  type BuildContent,
  buildContentQuery,
  buildFilterQuery,
  readBuildContent,
  readBuildFilter,
} from "./build-filter.ts";
import { holderOf } from "./holder.ts";
import { measureAnswer, writeBuilds } from "./json/builds.ts";
import { linkPages, pageQuery } from "./json/list.ts";
import { PipelineTexts } from "./json/pipelines.ts";
import { pipelineOf } from "./pipelines.ts";

const tag = "Builds";
const reading = { tag, scope: "read_builds" as const };
const page = { status: 200, schema: z.array(buildSchema), description: "A page of builds" } as const;
const found = { status: 200, schema: buildSchema, description: "The build" } as const;

const retriedFailures = z.object({
  states: z
    .string({ error: "States must be a string" })
    .nullish()
    .meta({ description: "Which failures, by commas. Default: all", examples: ["failed,soft_failed"] }),
});

/** @throws Refusal 400 */
function failuresOf(states: string | null | undefined): readonly Failure[] {
  const given = (states ?? "").split(",").map((each) => each.trim());
  const names = given.filter((each) => each !== "");
  const unknown = names.filter((name) => !isFailure(name));
  if (unknown.length > 0) {
    const valid = failures.toSorted().join(", ");
    throw new Refusal(400, `Invalid states: ${excerpt(unknown.join(", "))}. Valid states are ${valid}.`);
  }
  return names.length > 0 ? names.filter(isFailure) : failures;
}

function isFailure(name: string): name is Failure {
  return (failures as readonly string[]).includes(name);
}

type Answered = Pick<Call<unknown>, "event" | "caller">;

export function buildOperations(services: Services): Operation[] {
  const { db, config } = services;

  const textsOf = (
    { event, caller: { organization } }: Answered,
    builds: { pipelineId: string }[],
    content: BuildContent,
  ) => {
    const ids = builds.map(({ pipelineId }) => pipelineId);
    const options = { hasTexts: content.hasPipeline, request: event.req };
    return PipelineTexts.open(services, organization, ids, options);
  };
  const inTurnOf =
    ({ event, caller }: Answered): InTurn =>
    (read) =>
      longReads.take(caller.organization.id, read, event.req.signal);
  const list = async (call: Call<unknown>) => {
    const { event, caller } = call;
    const { organization } = caller;
    const isOfPipeline = getRouterParam(event, "slug") !== undefined;
    const pipeline = isOfPipeline ? await pipelineOf(services, call) : undefined;
    const { content, ...given } = readBuildFilter(event);
    const filter = { ...given, organizationId: organization.id, pipelineId: pipeline?.id };
    const wanted = readPage(event);

    const { rows, ...around } = await listBuildAddresses(db, filter, wanted);
    const ids = rows.map(({ id }) => id);
    const sizes = await measurePage(db, ids, content, inTurnOf(call));
    linkPages(event, { ...around, page: wanted }, config.baseUrl);
    const texts = await textsOf(call, rows, content);
    const builds = writeBuilds(services, rows, { organization, content, sizes, texts });
    const bytes = measureAnswer({ sizes, texts });
    return answerJson(event, holderOf(caller), inBrackets(builds), { bytes });
  };
  const one = async (
    call: Answered,
    build: Build,
    {
      content = allOfBuild,
      retriedJobs,
      ...answer
    }: { content?: BuildContent; retriedJobs?: number; status?: 200 | 201 | 202; isOfChange?: boolean },
  ) => {
    const { event, caller } = call;
    const { organization } = caller;
    const sizes = await measurePage(db, [build.id], content, inTurnOf(call));
    const readDetails = async () => ({
      jobStates: await countJobStates(db, build.id),
      warnings: await listWarnings(db, build.id),
      retriedJobs,
    });
    const texts = await textsOf(call, [build], content);
    const parts = writeBuilds(services, [build], { organization, content, sizes, texts, readDetails });
    const bytes = measureAnswer({ sizes, texts });
    return answerJson(event, holderOf(caller), requireSome(parts, "build"), { ...answer, bytes });
  };
  const query = { ...pageQuery, ...buildFilterQuery };

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.builds,
      id: "listBuilds",
      summary: "The builds of an organization, newest first",
      query,
      success: page,
      refusals: { 422: ["Validation failed: …"] },
      run: list,
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.allBuilds,
      id: "listAllBuilds",
      summary: "The builds of all organizations that the token reaches, which is one, newest first",
      query,
      success: page,
      refusals: { 422: ["Validation failed: …"] },
      run: list,
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipelineBuilds,
      id: "listBuildsOfPipeline",
      summary: "The builds of a pipeline, newest first",
      query,
      success: page,
      refusals: { 422: ["Validation failed: …"] },
      run: list,
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.build,
      id: "getBuild",
      summary: "A build",
      query: buildContentQuery,
      success: found,
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const build = await requireBuild(db, pipeline, parseBuildKey(call.parameter("number")));
        return one(call, build, { content: readBuildContent(call.event) });
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["POST"],
      path: patterns.pipelineBuilds,
      id: "createBuild",
      summary: "Make a build",
      body: { schema: newBuild, isOptional: true },
      success: { status: 201, schema: buildSchema, description: "The new build" },
      refusals: {
        422: [
          "Validation failed: …",
          "The pipeline cannot build: a step has no queue to run on",
          storageFull,
        ],
      },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const input = await call.readBody((sound: Partial<z.input<typeof newBuild>>) =>
          newBuildProblems(config, newBuild.pick({ meta_data: true }).parse(sound)),
        );
        const { build } = await createBuildByHand(services, call.actor, pipeline, input);
        return one(call, build, { status: 201, isOfChange: true });
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.rebuildBuild,
      id: "rebuildBuild",
      summary: "Make a build like another, with the present steps",
      success: { status: 200, schema: buildSchema, description: "The new build" },
      refusals: { 422: ["The pipeline cannot build: a step has no queue to run on", storageFull] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const key = parseBuildKey(call.parameter("number"));
        const { build } = await rebuild(services, call.actor, pipeline, key);
        return one(call, build, { isOfChange: true });
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.cancelBuild,
      id: "cancelBuild",
      summary: "Cancel a build that has not finished",
      success: found,
      refusals: { 422: ["Build cannot be canceled: it has finished already"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const key = parseBuildKey(call.parameter("number"));
        await cancelBuild(services, call.actor, pipeline, key);
        return one(call, await requireBuild(db, pipeline, key), { isOfChange: true });
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.retryFailedJobs,
      id: "retryFailedJobs",
      summary: "Retry the failed jobs of a build, as far as their steps allow it",
      body: { schema: retriedFailures, isOptional: true },
      success: { status: 202, schema: retriedBuildSchema, description: "The build, and the number of jobs" },
      refusals: { 400: ["Invalid states: …"], 422: ["Jobs cannot be retried: …"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const key = parseBuildKey(call.parameter("number"));
        const build = await requireBuild(db, pipeline, key);
        const { states } = await call.readBody();
        const target = { build, pipeline };
        const retriedJobs = await retryFailedJobs(services, call.actor, target, failuresOf(states));
        return one(call, await requireBuild(db, pipeline, key), {
          status: 202,
          isOfChange: true,
          retriedJobs,
        });
      },
    }),
  ];
}
