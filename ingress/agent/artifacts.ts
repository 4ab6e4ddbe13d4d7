import { z } from "zod";
import { requireBuildInReach } from "../../shared/agents/inside/reach.ts";
import type { LeaseGroup } from "../../shared/agents/lease-group.ts";
import { type AnnouncedArtifact, announceArtifacts } from "../../shared/artifacts/announce.ts";
import { reportArtifacts } from "../../shared/artifacts/report.ts";
import { searchArtifacts } from "../../shared/artifacts/search.ts";
import { signBatch } from "../../shared/artifacts/signatures.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal, unprocessable } from "../../shared/refusal.ts";
import { isStorable } from "../../shared/validation.ts";
import { type ArtifactState, artifactStates } from "../../shared/vocabulary.ts";
import { uploadForm } from "../artifacts/uploads.ts";
import { answerJson, inBrackets } from "../http/transfers/json-stream.ts";
import * as field from "../operations/fields.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, done, tag } from "./answers.ts";
import { foundArtifact, presentFound } from "./found-artifacts.ts";

const maxBatch = 100;
/** Of one artifact: agents send no larger files as a form, and no larger ones in parts. */
const maxBytes = 5 * 1024 ** 3;
const maxPathBytes = 4096;
const unknownType = "application/octet-stream";

function storable(name: string) {
  return z
    .string({ error: `${name} must be text` })
    .refine((given) => Buffer.byteLength(given) <= maxPathBytes, `${name} is larger than 4,096 bytes`)
    .refine(isStorable, `${name} must be text without NUL`);
}

/** Clients send blank text for none. */
function optional<Schema extends z.ZodType<string>>(schema: Schema) {
  return schema.nullish().transform((given) => given || null);
}

function hex(name: string, digits: number) {
  const error = `${name} must have ${digits} hexadecimal digits`;
  return z
    .string({ error })
    .regex(new RegExp(`^[0-9a-f]{${digits}}$`, "i"), error)
    .transform((given) => given.toLowerCase());
}

function uuid(name: string) {
  const error = `${name} must be a UUID`;
  return z
    .string({ error })
    .transform(lowerCaseId)
    .refine((id) => isId(id), error);
}

const sizeError = "file_size must be a whole number of bytes, at most 5 GB";
const announced = z
  .object({
    path: storable("path").refine((given) => given !== "", "path can't be blank"),
    absolute_path: optional(storable("absolute_path")),
    glob_path: optional(storable("glob_path")),
    file_size: z.int({ error: sizeError }).min(0, sizeError).max(maxBytes, sizeError),
    sha1sum: hex("sha1sum", 40),
    sha256sum: z.union([z.literal(""), hex("sha256sum", 64)]).nullish(),
    content_type: optional(storable("content_type")),
    url: optional(storable("url")).meta({ description: "At a destination of its own" }),
  })
  .transform(
    (given): AnnouncedArtifact => ({
      path: given.path,
      absolutePath: given.absolute_path ?? given.path,
      globPath: given.glob_path,
      size: given.file_size,
      sha1: given.sha1sum,
      sha256: given.sha256sum || null,
      contentType: given.content_type ?? unknownType,
      url: given.url,
    }),
  );
const batchError = `artifacts must be a list of 1 to ${maxBatch}`;
const batch = z.object({
  id: uuid("id").meta({ description: "Made by the caller. The same batch again changes nothing" }),
  artifacts: z.array(announced, { error: batchError }).min(1, batchError).max(maxBatch, batchError),
  upload_destination: optional(storable("upload_destination")).meta({
    description: "The agent uploads there by itself. Absent and blank: here",
  }),
  multipart_supported: z.boolean().nullish(),
});
const instructions = z.object({
  data: z.record(z.string(), z.string()),
  action: z.object({ url: field.url, method: z.string(), path: z.string(), file_input: z.string() }),
});
const accepted = z.object({
  id: field.id,
  artifact_ids: z.array(field.id).meta({ description: "In the order of the artifacts" }),
  upload_instructions: instructions
    .nullable()
    .meta({ description: "The form with which each file is uploaded. Null: the agent uploads by itself" }),
});
const reports = z.object({
  artifacts: z
    .array(
      z.object({
        id: uuid("id"),
        state: z.enum(["finished", "error"], { error: "state must be finished or error" }),
      }),
      { error: "artifacts must be a list" },
    )
    .max(10 * maxBatch, `artifacts can be ${10 * maxBatch} at most`),
});

const flag = z.enum(["true", "false"]).optional();

/** The calls of programs in jobs for artifacts. Agents repeat a refused search for 45 seconds. */
export function artifactOperations(services: Services, leases: LeaseGroup): Operation[] {
  const { db, config } = services;
  return [
    operation({
      tag,
      caller: "attempt",
      methods: ["POST"],
      path: patterns.jobArtifacts,
      id: "announceArtifacts",
      summary: "Announce artifacts of a running job, and learn how to upload them",
      description: `The files are then sent to \`/v3/artifacts/upload\`, one a request, as multipart/form-data: the fields of \`data\`, in which \`$\{artifact:path}\` stands for the path of the artifact, and then the file.`,
      body: { schema: batch, refuse: unprocessable },
      success: answer(accepted, "The artifacts are announced"),
      refusals: {
        403: ["The organization has no room for the artifacts"],
        422: ["an artifact is wrong, or the build would have too many, or too long paths"],
      },
      run: async ({ attempt, readBody }) => {
        const { id, artifacts, upload_destination: uploadDestination } = await readBody();
        const stored = await announceArtifacts(services, leases, attempt, {
          id,
          artifacts,
          uploadDestination,
        });
        return {
          id,
          artifact_ids: stored.map((each) => each.id),
          upload_instructions:
            uploadDestination === null
              ? instructionsFor(signBatch(services, { jobId: attempt.lease.jobId, batchId: id }))
              : null,
        };
      },
    }),
    operation({
      tag,
      caller: "attempt",
      methods: ["PUT"],
      path: patterns.jobArtifacts,
      id: "reportArtifacts",
      summary: "Say which artifacts are uploaded, and which cannot be",
      body: { schema: reports, refuse: unprocessable },
      success: done,
      refusals: { 422: ["an artifact is not one of the job, or was not uploaded"] },
      isQuiet: true,
      run: async ({ attempt, readBody }) => {
        const { artifacts } = await readBody();
        await reportArtifacts(services, leases, attempt, artifacts);
        return {};
      },
    }),
    operation({
      tag,
      caller: "insideJob",
      methods: ["GET"],
      path: patterns.searchArtifacts,
      id: "searchArtifacts",
      summary: "Search the artifacts of a build of the job's cluster",
      description:
        "Oldest first. Their addresses are good for an hour, without a token. A pattern finds the newest artifact of each path; with a step as scope, one of each of its jobs.",
      query: {
        query: z.string().meta({
          description: "A path. `*` is any run of characters, also of `/`; `\\` equals `/`",
        }),
        scope: z.string().optional().meta({ description: "The id of a job, or the key or label of a step" }),
        state: z
          .enum(["all", ...artifactStates])
          .optional()
          .meta({ description: "Default: finished" }),
        include_retried_jobs: flag.meta({ description: "True: also of attempts that were retried" }),
        include_duplicates: flag.meta({ description: "True: all artifacts that match" }),
      },
      success: answer(z.array(foundArtifact), "The artifacts"),
      refusals: {
        400: ["Several jobs have an artifact of this path, or the state is unknown"],
        404: ["no such build"],
      },
      run: async ({ parameter, event, organizationId, ...caller }) => {
        const { searchParams } = event.url;
        const build = await requireBuildInReach(db, caller, parameter("id"));
        const ids = await searchArtifacts(db, build.id, {
          query: searchParams.get("query") ?? "",
          scope: searchParams.get("scope") || undefined,
          state: requireState(searchParams.get("state") || "finished"),
          includesRetriedJobs: searchParams.get("include_retried_jobs") === "true",
          includesDuplicates: searchParams.get("include_duplicates") === "true",
        });
        return answerJson(event, { organizationId }, inBrackets(presentFound(services, ids)));
      },
    }),
  ];

  function instructionsFor(token: string): z.infer<typeof instructions> {
    return {
      data: { [uploadForm.batch]: token, [uploadForm.path]: `$\{artifact:path}` },
      action: {
        url: config.baseUrl,
        method: "POST",
        path: new URL(config.baseUrl + patterns.uploadArtifact).pathname,
        file_input: uploadForm.file,
      },
    };
  }
}

/** @throws Refusal 400 */
function requireState(given: string): ArtifactState | undefined {
  if (given === "all") return undefined;
  const state = artifactStates.find((each) => each === given);
  if (!state) throw new Refusal(400, `state must be all, ${artifactStates.join(", ")}`);
  return state;
}
