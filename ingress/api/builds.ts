import { getRouterParam } from "h3";
import { z } from "zod";
import { storageFull } from "../../shared/accounts/storage.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { listAgentsById } from "../../shared/agents/list-store.ts";
import { type BuildDetails, listBuildDetails, requireBuild } from "../../shared/builds/builds.ts";
import { cancelBuild } from "../../shared/builds/cancel.ts";
import { createBuildByHand, newBuild, newBuildProblems } from "../../shared/builds/new-build.ts";
import { rebuild } from "../../shared/builds/rebuild.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/process/services.ts";
import { readPage } from "../http/number-pager.ts";
import { parseBuildNumber } from "../http/routing.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import {
  type BuildContent,
  buildContentQuery,
  buildFilterQuery,
  readBuildContent,
  readBuildFilter,
} from "./build-filter.ts";
import { buildSchema, presentBuild } from "./json/build.ts";
import { linkPages, pageQuery } from "./json/list.ts";
import { pipelineOf } from "./pipelines.ts";

const tag = "Builds";
const reading = { tag, scope: "read_builds" as const };
const page = { status: 200, schema: z.array(buildSchema), description: "A page of builds" } as const;
const one = { status: 200, schema: buildSchema, description: "The build" } as const;

export function buildOperations(services: Services): Operation[] {
  const { db, cipher, config } = services;

  const present = async (
    call: Pick<Call<unknown>, "caller">,
    builds: BuildDetails[],
    content?: BuildContent,
  ) => {
    const creators = builds.flatMap(({ build }) => build.creatorId ?? []);
    const context = {
      cipher,
      config,
      organization: call.caller.organization,
      users: await listUsersById(db, creators),
      agents: await listAgentsById(
        db,
        builds.flatMap(({ jobs }) => jobs.map(({ job }) => job.agentId)),
      ),
      now: services.clock.now(),
    };
    return builds.map((details) => presentBuild(context, details, content));
  };
  const presentOne = async (
    call: Pick<Call<unknown>, "caller">,
    details: BuildDetails,
    content?: BuildContent,
  ) => (await present(call, [details], content))[0];

  const list = async (call: Call<unknown>) => {
    const { organization } = call.caller;
    const isOfPipeline = getRouterParam(call.event, "slug") !== undefined;
    const pipeline = isOfPipeline ? await pipelineOf(services, call) : undefined;
    const { content, ...given } = readBuildFilter(call.event);
    const filter = { ...given, organizationId: organization.id, pipelineId: pipeline?.id };
    const wanted = readPage(call.event);

    const list = await listBuildDetails(db, filter, wanted, content);
    linkPages(call.event, { ...list, page: wanted }, config.baseUrl);
    return present(call, list.rows, content);
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
      success: one,
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const details = await requireBuild(db, pipeline, parseBuildNumber(call.parameter("number")));
        return presentOne(call, details, readBuildContent(call.event));
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
          newBuildProblems(config, { meta_data: sound.meta_data }),
        );
        const { build } = await createBuildByHand(services, call.actor, pipeline, input);
        return presentOne(call, await requireBuild(db, pipeline, build.number));
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
        const number = parseBuildNumber(call.parameter("number"));
        const { build } = await rebuild(services, call.actor, pipeline, number);
        return presentOne(call, await requireBuild(db, pipeline, build.number));
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.cancelBuild,
      id: "cancelBuild",
      summary: "Cancel a build that has not finished",
      success: one,
      refusals: { 422: ["Build cannot be canceled: it has finished already"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const number = parseBuildNumber(call.parameter("number"));
        await cancelBuild(services, call.actor, pipeline, number);
        return presentOne(call, await requireBuild(db, pipeline, number));
      },
    }),
  ];
}
