import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/process/config.ts";
import { batchBody, entryBody, keyBody } from "../agent/meta-data.ts";
import { uploadBody, uploadState } from "../agent/pipelines.ts";
import { agentCalls, refusal } from "./agent-calls.ts";
import { rateLimitHeaders } from "./answers.ts";
import { type Answer, type Declaration, jsonType } from "./declaration.ts";

type Verb = "get" | "set" | "set-batch" | "exists" | "keys";

/** Describes the calls of agents and jobs below `/v3`. */
export function declareAgent(config: Config): Declaration[] {
  return [...agentCalls, ...declareUploads(), ...declareMetaData(config)];
}

function declareUploads(): Declaration[] {
  const common = {
    tag: "Agent API",
    security: ["jobToken" as const, "sessionToken" as const],
    server: "baseUrl" as const,
  };
  const success = { description: "The steps are added", schema: uploadState, headers: [] };
  const invalidToken = refusal("No valid job token", ["WWW-Authenticate"]);
  const unavailable = refusal("Temporarily unavailable: wait as Retry-After says", ["Retry-After"]);
  return [
    {
      ...common,
      methods: ["POST"],
      path: patterns.uploadPipeline,
      id: "uploadPipeline",
      summary: "Add steps to the build of a running job, directly after its step",
      pathParameters: { id: "Id of the token's job" },
      query: { async: z.string().optional().meta({ description: "Makes no difference" }) },
      body: { schema: uploadBody, mediaType: jsonType },
      answers: {
        "200": success,
        "400": refusal("The body is not valid JSON, or not an object"),
        "401": invalidToken,
        "404": refusal("Another job than the token's"),
        "413": refusal("The body is larger than 1 MB"),
        "415": refusal("The body is not JSON in UTF-8"),
        "422": refusal(
          "A step is wrong, the job does not run, or the build would have too many or too large jobs",
        ),
        "429": refusal("The job uploads too often: wait as Retry-After says", ["Retry-After"]),
        "503": unavailable,
      },
    },
    {
      ...common,
      methods: ["GET"],
      path: patterns.pipelineUpload,
      id: "getPipelineUpload",
      summary: "The state of an upload",
      pathParameters: { id: "Id of the token's job", upload: "The uuid of the upload" },
      answers: {
        "200": success,
        "401": invalidToken,
        "404": refusal("Another job than the token's, or no such upload"),
        "503": unavailable,
      },
    },
  ];
}

function declareMetaData({ serviceName }: Config): Declaration[] {
  const payloadKey = `\`${serviceName}:webhook\``;
  const calls: Record<Verb, { summary: string; description?: string; body?: z.ZodType; success: Answer }> = {
    get: {
      summary: "Read a value of the build's meta-data",
      description: `The key ${payloadKey} reads the payload of the delivery that made the build, byte for byte.`,
      body: keyBody,
      success: {
        description: "The value",
        schema: z.object({ key: z.string(), value: z.string() }),
        headers: [],
      },
    },
    set: {
      summary: "Set a value of the build's meta-data",
      description: "Values have at most 100 KB, keys at most 1,024 bytes.",
      body: entryBody,
      success: { description: "The value is set", schema: z.object({ key: z.string() }), headers: [] },
    },
    "set-batch": {
      summary: "Set several values of the build's meta-data, all or none",
      body: batchBody,
      success: {
        description: "The values are set",
        schema: z.object({ keys: z.array(z.string()) }),
        headers: [],
      },
    },
    exists: {
      summary: "Check whether a key has a value",
      body: keyBody,
      success: { description: "The answer", schema: z.object({ exists: z.boolean() }), headers: [] },
    },
    keys: {
      summary: "List the keys",
      success: { description: "The keys", schema: z.array(z.string()), headers: [] },
    },
  };
  const owners = [
    { owner: "Job", base: patterns.jobData },
    { owner: "Build", base: patterns.buildData },
  ];
  return owners.flatMap(({ owner, base }) =>
    Object.entries(calls).map(([verb, { summary, description, body, success }]) => ({
      methods: ["POST"],
      path: `${base}/${verb}`,
      id: `${verb.replace("-b", "B")}DataOf${owner}`,
      tag: "Agent API",
      summary: `${summary}, by ${owner.toLowerCase()}`,
      ...(description ? { description } : {}),
      security: ["jobToken", "sessionToken"],
      server: "baseUrl",
      pathParameters: { id: `Id of the token's ${owner.toLowerCase()}` },
      ...(body ? { body: { schema: body, mediaType: jsonType } } : {}),
      answers: { "200": success, ...refusalsOf(verb as Verb) },
    })),
  );
}

function refusalsOf(verb: Verb): Record<string, Answer> {
  const hasBody = verb !== "keys";
  return {
    "401": refusal("No valid job token, and no session that has a job", ["WWW-Authenticate"]),
    "404": refusal(
      verb === "get"
        ? "Another job or build than the token's, or no such key"
        : "Another job or build than the token's",
    ),
    ...(hasBody && {
      "400": refusal("The body is not valid JSON, or not an object"),
      "413": refusal("The body is larger than 1 MB"),
      "415": refusal("The body is not JSON in UTF-8"),
      "422": refusal("A member is missing or wrong"),
    }),
    ...(verb.startsWith("set") && { "403": refusal("The token may only read") }),
    "429": refusal("Too many requests: wait as Retry-After says", ["Retry-After", ...rateLimitHeaders]),
    "503": refusal("Temporarily unavailable: wait as Retry-After says", ["Retry-After"]),
  };
}
