import { getRouterParam, HTTPResponse } from "h3";
import { z } from "zod";
import {
  addressOfArtifact,
  deleteArtifact,
  listArtifacts,
  requireArtifact,
} from "../../../shared/artifacts/artifacts.ts";
import { findJobOfBuild } from "../../../shared/builds/reading/answer-store.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { artifactStates } from "../../../shared/vocabulary.ts";
import { readPage } from "../../http/number-pager.ts";
import { jsonType } from "../../http/respond.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { atBothAddresses, findBuildOfCall, type JobCall } from "../jobs/address.ts";
import { linkPages, pageQuery } from "../json/list.ts";
import { readFilterQuery } from "../query-reader.ts";
import { artifactSchema, presentArtifact } from "./present.ts";

const tag = "Artifacts";
const reading = { tag, scope: "read_artifacts" as const };

const listQuery = {
  ...pageQuery,
  state: z.enum(artifactStates).optional().meta({ description: "Only artifacts of this state" }),
  path: z
    .string()
    .optional()
    .meta({ description: "Only this path; * is any run of characters, and \\ the same as /" }),
};

const listed = {
  ...reading,
  methods: ["GET"] as ["GET"],
  query: listQuery,
  success: { status: 200 as const, schema: z.array(artifactSchema), description: "A page of artifacts" },
  refusals: { 422: ["Validation failed: …"] },
};
const downloads = [
  patterns.artifactDownload,
  patterns.buildArtifactDownload,
  patterns.artifactDownloadById,
] as const;
const addressSchema = z.object({ url: field.url.meta({ description: "Good for a minute, for anybody" }) });

/** The operations of artifacts at an address below their build, and at two below their job. */
export function artifactOperations(services: Services): Operation[] {
  const { db, config } = services;

  const placeOf = async (call: JobCall) => {
    const { build, pipeline } = await findBuildOfCall(services, call);
    const address = { org: call.caller.organization.slug, slug: pipeline.slug, number: build.number };
    return { build, pipeline, address, jobId: await jobIdOf(call, build) };
  };
  /** Undefined: the path names no job. @throws Refusal 404 */
  const jobIdOf = async ({ event, parameter }: JobCall, build: Build) => {
    if (getRouterParam(event, "job") === undefined) return undefined;
    const id = parameter("job");
    if (!isId(id) || !(await findJobOfBuild(db, build.id, id))) throw notFound("job");
    return id;
  };
  const artifactOf = async (call: JobCall) => {
    const place = await placeOf(call);
    const { build, jobId } = place;
    const artifact = await requireArtifact(db, { buildId: build.id, jobId }, call.parameter("artifact"));
    return { ...place, artifact };
  };
  const list = async (call: Call<unknown>) => {
    const { build, jobId, address } = await placeOf(call);
    const page = readPage(call.event);
    const filter = readFilterQuery(call.event, pageQuery, (given) => ({
      state: given.artifactState("state"),
      path: given.text("path"),
    }));
    const found = await listArtifacts(db, { buildId: build.id, jobId, ...filter }, page);
    linkPages(call.event, { page, ...found }, config.baseUrl);
    return found.rows.map((each) => presentArtifact(config, address, each));
  };

  return [
    operation({
      ...listed,
      path: patterns.buildArtifacts,
      id: "listArtifacts",
      summary: "The artifacts of a build, oldest first",
      run: list,
    }),
    operation({
      ...listed,
      path: patterns.jobsArtifacts,
      id: "listArtifactsOfJob",
      summary: "The artifacts of a job, oldest first",
      run: list,
    }),
    operation({
      ...listed,
      path: patterns.jobsArtifactsById,
      id: "listArtifactsOfJobById",
      summary: "The artifacts of a job, oldest first",
      run: list,
    }),
    ...atAllAddresses([patterns.artifact, patterns.buildArtifact, patterns.artifactById], {
      ...reading,
      methods: ["GET"],
      id: "getArtifact",
      summary: "An artifact",
      success: { status: 200, schema: artifactSchema, description: "The artifact" },
      run: async (call) => {
        const { address, artifact } = await artifactOf(call);
        return presentArtifact(config, address, artifact);
      },
    }),
    ...atAllAddresses(downloads, {
      ...reading,
      methods: ["GET"],
      id: "downloadArtifact",
      summary: "An address with the bytes of an artifact",
      description: "Whoever has the address gets the bytes, so clients must not send their token there.",
      success: { status: 302, schema: addressSchema, description: "The address, also in Location" },
      refusals: { 410: ["The artifact is deleted", "The artifact is expired"] },
      run: async (call) => {
        const url = addressOfArtifact(services, (await artifactOf(call)).artifact);
        const headers = { location: url, "content-type": jsonType, "cache-control": "no-store" };
        return new HTTPResponse(JSON.stringify({ url }), { status: 302, headers });
      },
    }),
    ...atAllAddresses([patterns.artifact, patterns.buildArtifact, patterns.artifactById], {
      tag,
      scope: "write_artifacts",
      methods: ["DELETE"],
      id: "deleteArtifact",
      summary: "Delete the bytes of an artifact; it stays in lists, as deleted",
      success: { status: 204, description: "The artifact is deleted" },
      refusals: { 422: ["Artifact cannot be deleted: its upload has not ended"] },
      run: async (call) => {
        const { artifact, ...place } = await artifactOf(call);
        await deleteArtifact(services, call.actor, place, artifact);
      },
    }),
  ];
}

function atAllAddresses<Body>(
  [path, inBuild, shortPath]: readonly [path: string, inBuild: string, shortPath: string],
  declared: Omit<Operation<Body, "accessToken">, "path">,
): Operation[] {
  return [
    ...atBothAddresses([path, shortPath], declared),
    operation<Body>({ ...declared, path: inBuild, id: `${declared.id}OfBuild` }),
  ];
}
