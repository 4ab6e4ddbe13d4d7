import { z } from "zod";
import { requireBuildInReach } from "../../../shared/agents/inside/reach.ts";
import type { LeaseBatches } from "../../../shared/agents/lease-batches.ts";
import { announceArtifacts } from "../../../shared/artifacts/announce.ts";
import { beginParts } from "../../../shared/artifacts/parts.ts";
import { reportArtifacts } from "../../../shared/artifacts/report.ts";
import { searchArtifacts } from "../../../shared/artifacts/search.ts";
import { signBatch } from "../../../shared/artifacts/signatures.ts";
import type { DirectUpload } from "../../../shared/blobs/blobs.ts";
import { patterns } from "../../../shared/paths.ts";
import { Refusal, unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ArtifactState, artifactStates } from "../../../shared/vocabulary.ts";
import { uploadForm } from "../../artifacts/uploads.ts";
import { answerJson, inBrackets } from "../../http/transfers/json-stream.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { answer, done, tag } from "../answers.ts";
import { foundArtifact, presentFound } from "./found.ts";
import { accepted, batch, type instructions, reports } from "./members.ts";

const flag = z.enum(["true", "false"]).optional();
/** Of a megabyte of parts with their etags. Agents do not repeat a refused report: its files would be lost. */
const maxValuesOfReports = 50_000;

/** The calls of programs in jobs for artifacts. Agents repeat a refused search for 45 seconds. */
export function artifactOperations(services: Services, leases: LeaseBatches): Operation[] {
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
        429: ["the organization's artifacts would be twice as large as it may store"],
      },
      run: async ({ attempt, readBody }) => {
        const {
          id,
          artifacts,
          upload_destination: uploadDestination,
          multipart_supported,
        } = await readBody();
        const stored = await announceArtifacts(services, leases, attempt, {
          id,
          artifacts,
          uploadDestination,
        });
        const isHere = uploadDestination === null;
        const inParts = isHere && multipart_supported ? await beginParts(services, stored) : new Map();
        return {
          id,
          artifact_ids: stored.map((each) => each.id),
          upload_instructions: isHere
            ? instructionsFor(signBatch(services, { jobId: attempt.lease.jobId, batchId: id }))
            : null,
          ...(inParts.size > 0 && { per_artifact_instructions: presentParts(inParts) }),
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
      body: { schema: reports, refuse: unprocessable, maxValues: maxValuesOfReports },
      success: done,
      refusals: { 422: ["an artifact is not one of the job, or was not uploaded"] },
      isQuiet: true,
      run: async ({ attempt, readBody }) => {
        const { artifacts } = await readBody();
        const reports = artifacts.map(({ id, state, multipart_etags }) => ({
          id,
          state,
          parts: multipart_etags,
        }));
        await reportArtifacts(services, leases, attempt, reports);
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

function presentParts(inParts: Map<string, DirectUpload["parts"]>) {
  const entries = [...inParts].map(([id, parts]) => [
    id,
    { actions: parts.map(({ partNumber, url }) => ({ url, method: "PUT", part_number: partNumber })) },
  ]);
  return Object.fromEntries(entries);
}

/** @throws Refusal 400 */
function requireState(given: string): ArtifactState | undefined {
  if (given === "all") return undefined;
  const state = artifactStates.find((each) => each === given);
  if (!state) throw new Refusal(400, `state must be all, ${artifactStates.join(", ")}`);
  return state;
}
