import type { H3Event } from "h3";
import { z } from "zod";
import type { TokenHolder } from "../../shared/accounts/access-token-store.ts";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { slugProblems } from "../../shared/accounts/organizations.ts";
import { storageFull } from "../../shared/accounts/storage.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import {
  countWorkOfPipelines,
  type PipelineCounts,
} from "../../shared/builds/reading/pipeline-counts-store.ts";
import { findOnlyCluster } from "../../shared/clusters/store.ts";
import { readSound } from "../../shared/members/bodies.ts";
import { patterns } from "../../shared/paths.ts";
import { archivePipeline, unarchivePipeline } from "../../shared/pipelines/archive.ts";
import { readGivenSteps } from "../../shared/pipelines/configuration/given.ts";
import {
  type NewPipeline,
  newPipeline,
  type PipelineChange,
  pipelineChange,
} from "../../shared/pipelines/input.ts";
import { pipelineMembers } from "../../shared/pipelines/members.ts";
import {
  createPipeline,
  deletePipeline,
  newPipelineProblems,
  pipelineChangeProblems,
  requirePipeline,
  requirePipelineFacts,
  updatePipeline,
} from "../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../shared/pipelines/provider/webhook-store.ts";
import { readPipelineSteps } from "../../shared/pipelines/steps.ts";
import {
  listPipelineIds,
  type Pipeline,
  type PipelineFacts,
  type PipelineFilter,
} from "../../shared/pipelines/store.ts";
import { pipelineSchema, presentPipeline } from "../../shared/presenters/pipeline.ts";
import { loadProviders } from "../../shared/presenters/provider.ts";
import { withoutUnchangedNames } from "../../shared/presenters/sent-back.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { readPage } from "../http/number-pager.ts";
import { answerJson, inBrackets, requireSome } from "../http/transfers/json-stream.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { holderOf } from "./holder.ts";
import { linkPages, pageQuery } from "./json/list.ts";
import { PipelineTexts } from "./json/pipelines.ts";
import { readQuery } from "./query-reader.ts";

const tag = "Pipelines";
const reading = { tag, scope: "read_pipelines" as const };
const writing = { tag, scope: "write_pipelines" as const };

export function pipelineOperations(services: Services): Operation[] {
  const { db, config } = services;
  const change = async (call: Call<unknown>, apply: typeof archivePipeline) => {
    await apply(services, call.actor, await pipelineOf(services, call));
    return presentOne(services, call.caller.organization, await wholePipelineOf(services, call));
  };
  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipelines,
      id: "listPipelines",
      summary: "The pipelines of an organization, oldest first",
      query: {
        ...pageQuery,
        name: z.string().optional().meta({ description: "A part of the name, in upper or lower case" }),
        repository: z.string().optional().meta({ description: "A part of the repository's address" }),
        archived: z
          .boolean()
          .optional()
          .meta({ default: false, description: "true lists archived pipelines, and no others" }),
      },
      success: { status: 200, schema: z.array(pipelineSchema), description: "A page of pipelines" },
      refusals: { 422: ["Validation failed: …"] },
      run: async ({ event, caller }) => {
        const { organization } = caller;
        const page = readPage(event);
        const list = await listPipelineIds(db, readFilter(event, organization.id), page);
        linkPages(event, { ...list, page }, config.baseUrl);
        const ids = list.rows.map(({ id }) => id);
        const counted = { hasCounts: true, hasWebhooks: mayEdit(caller), request: event.req };
        const texts = await PipelineTexts.open(services, organization, ids, counted);
        const { bytes } = texts;
        return answerJson(event, holderOf(caller), inBrackets(texts.writeList()), { bytes });
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.pipelines,
      id: "createPipeline",
      summary: "Create a pipeline",
      body: {
        schema: newPipeline,
        readAhead: ({ steps }) => readPipelineSteps(steps),
        defaults: { cluster_id: async (organizationId) => (await findOnlyCluster(db, organizationId))?.id },
      },
      success: { status: 201, schema: pipelineSchema, description: "The new pipeline" },
      refusals: { 422: ["Validation failed: …", storageFull] },
      run: async ({ caller, actor, readBody }) => {
        const input = await readBody(
          (sound: Record<string, unknown>) =>
            newPipelineProblems(db, actor, withSettings(readSound(pipelineMembers, "create", sound), sound)),
          { prepare: (given) => withoutUnchangedNames(given) },
        );
        const steps = await readGivenSteps(caller.organization.id, input);
        const pipeline = await createPipeline(services, actor, { ...input, ...steps } as NewPipeline);
        return withSecret(services, await presentOne(services, caller.organization, pipeline));
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipeline,
      id: "getPipeline",
      summary: "A pipeline",
      success: { status: 200, schema: pipelineSchema, description: "The pipeline" },
      run: async (call) => {
        const { id } = await pipelineOf(services, call);
        const { organization } = call.caller;
        const counted = { hasCounts: true, hasWebhooks: mayEdit(call.caller), request: call.event.req };
        const texts = await PipelineTexts.open(services, organization, [id], counted);
        const { bytes } = texts;
        const parts = requireSome(texts.writeList(), "pipeline");
        // No holder: clients that read many pipelines one by one, at once, are not refused.
        return answerJson(call.event, { organizationId: organization.id }, parts, { bytes });
      },
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.pipeline,
      id: "updatePipeline",
      summary: "Change a pipeline; absent members stay, and so does the slug",
      body: { schema: pipelineChange, readAhead: ({ steps }) => readPipelineSteps(steps) },
      success: { status: 200, schema: pipelineSchema, description: "The changed pipeline" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const pipeline = await wholePipelineOf(services, call);
        const change = await call.readBody(
          (sound: Record<string, unknown>) =>
            pipelineChangeProblems(
              db,
              pipeline,
              withSettings(readSound(pipelineMembers, "change", sound), sound),
            ),
          { prepare: (given) => withoutUnchangedNames(given, pipeline) },
        );
        const steps = await readGivenSteps(pipeline.organizationId, change);
        const updated = await updatePipeline(services, call.actor, pipeline, { ...change, ...steps });
        return presentOne(services, call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.archivePipeline,
      id: "archivePipeline",
      summary: "Archive a pipeline: it makes no builds; those that it has go on",
      success: { status: 200, schema: pipelineSchema, description: "The archived pipeline" },
      run: (call) => change(call, archivePipeline),
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.unarchivePipeline,
      id: "unarchivePipeline",
      summary: "Let an archived pipeline make builds again",
      success: { status: 200, schema: pipelineSchema, description: "The pipeline" },
      run: (call) => change(call, unarchivePipeline),
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.pipeline,
      id: "deletePipeline",
      summary: "Delete a pipeline; its triggers go at once, its builds later",
      success: { status: 204, description: "The pipeline is gone" },
      refusals: { 422: ["Pipeline has N unfinished jobs"] },
      run: async (call) => deletePipeline(services, call.actor, await pipelineOf(services, call)),
    }),
  ];
}

/** @throws Refusal 422 */
function readFilter(event: H3Event, organizationId: string): PipelineFilter {
  return readQuery(event, (query) => ({
    organizationId,
    name: event.url.searchParams.get("name") ?? undefined,
    repository: event.url.searchParams.get("repository") ?? undefined,
    isArchived: query.boolean("archived") ?? false,
  }));
}

function withSettings<Members>(members: Members, { provider_settings }: Record<string, unknown>) {
  return { ...members, providerSettings: provider_settings as PipelineChange["providerSettings"] };
}

/** Addresses of webhooks are secrets. */
function mayEdit({ token }: TokenHolder): boolean {
  return token.scopes.includes("write_pipelines");
}

/** Shows the secret of a new pipeline's webhook, this once. */
async function withSecret(services: Services, made: Awaited<ReturnType<typeof presentOne>>) {
  const webhook = await findWebhook(services.db, { pipelineId: made.id });
  if (!webhook) return made;
  const { secret } = openWebhook(services, webhook);
  return { ...made, provider: { ...made.provider, secret } };
}

async function presentOne(services: Services, organization: Organization, pipeline: Pipeline) {
  const { db, config, cipher } = services;
  const counts = await findCounts(services, pipeline.id);
  const users = await listUsersById(db, [pipeline.createdById]);
  const providers = await loadProviders(services, organization.id, [pipeline.id]);
  return presentPipeline({ config, cipher, users, providers }, organization, { ...pipeline, counts });
}

async function findCounts({ db }: Services, id: string): Promise<PipelineCounts | undefined> {
  return (await countWorkOfPipelines(db, { ids: [id] }))[0];
}

/** Finds the pipeline of the path, without its steps. @throws Refusal 404 */
export function pipelineOf({ db }: Services, call: PipelineCall): Promise<PipelineFacts> {
  return requirePipelineFacts(db, call.caller.organization.id, slugOf(call));
}

function wholePipelineOf({ db }: Services, call: PipelineCall): Promise<Pipeline> {
  return requirePipeline(db, call.caller.organization.id, slugOf(call));
}

type PipelineCall = Pick<Call<unknown>, "caller" | "parameter">;

function slugOf({ parameter }: PipelineCall): string {
  const slug = parameter("slug");
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  return slug;
}
