import type { H3Event } from "h3";
import { z } from "zod";
import type { BuildFilter } from "../../shared/builds/list-store.ts";
import { excerpt, validationFailed } from "../../shared/refusal.ts";
import { type BuildState, buildStates, finishedBuildStates } from "../../shared/vocabulary.ts";

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
/** Clients write lists as `branch`, `branch[]` or `branch[0]`. */
const index = /\[\d*\]$/;
const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

const list = z.array(z.string()).optional();
const timeQuery = z.string().optional().meta({
  format: "date-time",
  description:
    "RFC 3339 with an offset, such as 2026-01-31T00:00:00Z; or a date, which is its midnight in UTC",
});
/** For the OpenAPI document. */
export const buildFilterQuery = {
  state: list.meta({ description: `${buildStates.join(", ")}, or finished; also as state[]` }),
  branch: list.meta({ description: "Also as branch[]" }),
  commit: list.meta({ description: "Also as commit[]" }),
  created_from: timeQuery,
  created_to: timeQuery,
  include_paused: z
    .boolean()
    .optional()
    .meta({ default: true, description: "false drops builds whose waiting jobs all sit on paused queues" }),
};

/** Reads the query. `state=finished` means passed, failed and canceled. @throws Refusal 422 */
export function readBuildFilter(event: H3Event): Omit<BuildFilter, "organizationId" | "pipelineId"> {
  const query = event.url.searchParams;
  return {
    states: readStates(query),
    branches: readTexts(query, "branch"),
    commits: readTexts(query, "commit"),
    createdFrom: readTime(query, "created_from"),
    createdTo: readTime(query, "created_to"),
    includePaused: readBoolean(query, "include_paused") ?? true,
  };
}

function readList(query: URLSearchParams, name: string): string[] | undefined {
  const given = [...query].filter(([key, value]) => key.replace(index, "") === name && value !== "");
  return given.length > 0 ? given.map(([, value]) => value) : undefined;
}

function readStates(query: URLSearchParams): BuildState[] | undefined {
  const given = readList(query, "state");
  const unknown =
    given?.filter((state) => state !== "finished" && !buildStates.includes(state as BuildState)) ?? [];
  const problems = unknown.map((state) => ({
    field: "state",
    message: `State ${excerpt(state)} is not a build state`,
  }));
  if (problems.length > 0) throw validationFailed(...problems);
  return given?.flatMap((state) => (state === "finished" ? finishedBuildStates : [state as BuildState]));
}

function readTexts(query: URLSearchParams, name: "branch" | "commit"): string[] | undefined {
  const given = readList(query, name);
  const word = name === "branch" ? "Branch" : "Commit";
  if (given?.some((value) => value.includes("\0")))
    throw validationFailed({ field: name, message: `${word} must be text without NUL` });
  return given;
}

function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (!value) return undefined;
  const known = booleans.get(value.toLowerCase());
  if (known === undefined) throw validationFailed({ field: name, message: `${name} must be true or false` });
  return known;
}

function readTime(query: URLSearchParams, name: string): Date | undefined {
  const value = query.get(name);
  if (!value) return undefined;
  const date = new Date(time.safeParse(value).success ? value : Number.NaN);
  const year = date.getUTCFullYear();
  // Outside these years Postgres and ISO 8601 differ.
  if (!(year >= 1 && year <= 9999))
    throw validationFailed({ field: name, message: `${name} must be a time such as 2026-01-31T00:00:00Z` });
  return date;
}
