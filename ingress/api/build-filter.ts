import type { H3Event } from "h3";
import { z } from "zod";
import { type BuildFilter, finishedStates } from "../../shared/builds/store.ts";
import type { BuildState } from "../../shared/db/schema.ts";
import { validationFailed } from "../../shared/refusal.ts";

const states: BuildState[] = ["scheduled", "running", "passed", "failed", "canceled"];
const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

const list = z.array(z.string()).optional();
/** The same, for the API's document. */
export const buildFilterQuery = {
  state: list.meta({ description: `${states.join(", ")}, or finished; also as state[]` }),
  branch: list.meta({ description: "Also as branch[]" }),
  commit: z.string().optional(),
  created_from: z.string().optional().meta({ format: "date-time" }),
  created_to: z.string().optional().meta({ format: "date-time" }),
  include_paused: z
    .boolean()
    .optional()
    .meta({ default: true, description: "false drops builds whose waiting jobs all sit on paused queues" }),
};

/**
 * The filters of a list of builds, from the query: `state`, `state[]`, `branch`, `branch[]`, `commit`,
 * `created_from`, `created_to`, `include_paused`. `state=finished` means passed, failed and canceled.
 * @throws Refusal 422
 */
export function readBuildFilter(event: H3Event): Omit<BuildFilter, "organizationId" | "pipelineId"> {
  const query = event.url.searchParams;
  const all = (name: string) =>
    [...query.getAll(name), ...query.getAll(`${name}[]`)].filter((value) => value !== "");
  const wantedStates = all("state");
  const branches = all("branch");
  const unknown = wantedStates.filter(
    (state) => state !== "finished" && !states.includes(state as BuildState),
  );
  if (unknown.length > 0)
    throw validationFailed(...unknown.map((state) => `State ${state} is not a build state`));
  if (branches.some((branch) => branch.includes("\0")))
    throw validationFailed("Branch must be text without NUL");

  return {
    states: wantedStates.length > 0 ? wantedStates.flatMap(expandState) : undefined,
    branches: branches.length > 0 ? branches : undefined,
    commit: readText(query.get("commit")),
    createdFrom: readTime(query, "created_from"),
    createdTo: readTime(query, "created_to"),
    includePaused: query.get("include_paused") !== "false",
  };
}

function expandState(state: string): BuildState[] {
  return state === "finished" ? finishedStates : [state as BuildState];
}

function readText(value: string | null): string | undefined {
  if (value?.includes("\0")) throw validationFailed("Commit must be text without NUL");
  return value || undefined;
}

function readTime(query: URLSearchParams, name: string): Date | undefined {
  const value = query.get(name);
  if (!value) return undefined;
  const date = new Date(time.safeParse(value).success ? value : Number.NaN);
  const year = date.getUTCFullYear();
  // Beyond these years Postgres and the ISO format go different ways.
  if (!(year >= 1 && year <= 9999))
    throw validationFailed(`${name} must be a time such as 2026-01-31T00:00:00Z`);
  return date;
}
