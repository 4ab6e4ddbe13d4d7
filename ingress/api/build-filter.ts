import type { H3Event } from "h3";
import { z } from "zod";
import type { BuildFilter } from "../../shared/builds/list-store.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { excerpt, type Problem, validationFailed } from "../../shared/refusal.ts";
import { isStorable } from "../../shared/validation.ts";
import {
  type BuildState,
  buildStates,
  finishedBuildStates,
  runningBuildStates,
} from "../../shared/vocabulary.ts";
import { pageQuery } from "./json/list.ts";

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
/** Clients write lists as `branch`, `branch[]` or `branch[0]`. */
const index = /\[\d*\]$/;
const metaDataKey = /^meta_data\[(.+)\]$/s;
const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
/** Clients may ask for states of the hosted service that no build has here. */
const otherStates = new Set([
  ...["creating", "waiting", "blocked", "failing", "canceling", "skipped", "not_run", "waiting_failed"],
]);
const maxMetaData = 10;

const list = z.array(z.string()).optional();
const yes = z.boolean().optional();
const timeQuery = z.string().optional().meta({
  format: "date-time",
  description:
    "RFC 3339 with an offset, such as 2026-01-31T00:00:00Z; or a date, which is its midnight in UTC",
});

/** For the OpenAPI document. */
export const buildContentQuery = {
  include_retried_jobs: yes.meta({ default: false, description: "true adds jobs that were retried" }),
  exclude_jobs: yes.meta({ default: false, description: "true leaves out the jobs" }),
  exclude_pipeline: yes.meta({ default: false, description: "true leaves out the pipeline" }),
};
export const buildFilterQuery = {
  state: list.meta({ description: `${buildStates.join(", ")}, or finished; also as state[]` }),
  branch: list.meta({ description: "Also as branch[]" }),
  commit: list.meta({ description: "Also as commit[]" }),
  creator: z.uuid().optional().meta({ description: "Id of the user who made the build" }),
  created_from: timeQuery,
  created_to: timeQuery,
  finished_from: timeQuery,
  meta_data: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "meta_data[key]=value; a build must have all of them" }),
  include_paused: yes.meta({
    default: true,
    description: "false drops builds whose waiting jobs all sit on paused queues",
  }),
  ...buildContentQuery,
};
const names = new Set([...Object.keys(pageQuery), ...Object.keys(buildFilterQuery)]);

/** The parts of a build that an answer has. */
export interface BuildContent {
  hasJobs: boolean;
  hasPipeline: boolean;
  hasRetriedJobs: boolean;
}

export const allOfBuild: BuildContent = { hasJobs: true, hasPipeline: true, hasRetriedJobs: false };

/** Reads the query. @throws Refusal 422 */
export function readBuildContent(event: H3Event): BuildContent {
  return readAll(event, readContent);
}

/** Reads the query. `state=finished` means passed, failed and canceled, `state=running` running, failing and canceling. @throws Refusal 422 */
export function readBuildFilter(
  event: H3Event,
): Omit<BuildFilter, "organizationId" | "pipelineId"> & { content: BuildContent } {
  return readAll(event, (query) => {
    query.refuseOthers();
    return {
      states: query.states(),
      branches: query.texts("branch"),
      commits: query.texts("commit"),
      creatorId: query.id("creator"),
      createdFrom: query.time("created_from"),
      createdTo: query.time("created_to"),
      finishedFrom: query.time("finished_from"),
      metaData: query.metaData(),
      includePaused: query.boolean("include_paused") ?? true,
      content: readContent(query),
    };
  });
}

function readContent(query: QueryReader): BuildContent {
  return {
    hasJobs: !query.boolean("exclude_jobs"),
    hasPipeline: !query.boolean("exclude_pipeline"),
    hasRetriedJobs: query.boolean("include_retried_jobs") ?? false,
  };
}

function readAll<T>({ url }: H3Event, read: (query: QueryReader) => T): T {
  const query = new QueryReader(url.searchParams);
  const result = read(query);
  if (query.problems.length > 0) throw validationFailed(...query.problems);
  return result;
}

/** Gathers the problems of all parameters. */
class QueryReader {
  readonly problems: Problem[] = [];
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** A filter that is ignored would answer too much. */
  refuseOthers(): void {
    const others = [...this.#query.keys()].filter((key) => !names.has(nameOf(key)));
    for (const name of new Set(others)) this.#refuse(name, `There is no filter ${excerpt(name)}`);
  }

  states(): BuildState[] | undefined {
    return this.#list("state")?.flatMap((state) => {
      if (state === "finished") return finishedBuildStates;
      if (state === "running") return runningBuildStates;
      if (buildStates.includes(state as BuildState)) return state as BuildState;
      if (!otherStates.has(state)) this.#refuse("state", `State ${excerpt(state)} is not a build state`);
      return [];
    });
  }

  texts(name: "branch" | "commit"): string[] | undefined {
    const given = this.#list(name);
    const word = name === "branch" ? "Branch" : "Commit";
    if (given?.some((value) => value.includes("\0"))) this.#refuse(name, `${word} must be text without NUL`);
    return given;
  }

  id(name: string): string | undefined {
    const value = this.#query.get(name);
    if (!value) return undefined;
    const id = lowerCaseId(value);
    if (!isId(id)) this.#refuse(name, "Creator must be the id of a user");
    return id;
  }

  metaData(): [key: string, value: string][] | undefined {
    const given = [...this.#query].flatMap(([parameter, value]): [string, string][] => {
      const key = metaDataKey.exec(parameter)?.[1];
      return key === undefined ? [] : [[key, value]];
    });
    if (this.#query.has("meta_data"))
      this.#refuse("meta_data", "Meta-data must be given as meta_data[key]=value");
    if (given.length > maxMetaData)
      this.#refuse("meta_data", `Meta-data can be ${maxMetaData} entries at most`);
    if (!given.flat().every(isStorable)) this.#refuse("meta_data", "Meta-data must be text without NUL");
    return given.length > 0 ? given : undefined;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#query.get(name);
    if (!value) return undefined;
    const known = booleans.get(value.toLowerCase());
    if (known === undefined) this.#refuse(name, `${name} must be true or false`);
    return known;
  }

  time(name: string): Date | undefined {
    const value = this.#query.get(name);
    if (!value) return undefined;
    const date = new Date(time.safeParse(value).success ? value : Number.NaN);
    const year = date.getUTCFullYear();
    // Outside these years Postgres and ISO 8601 differ.
    if (!(year >= 1 && year <= 9999))
      this.#refuse(name, `${name} must be a time such as 2026-01-31T00:00:00Z`);
    return date;
  }

  #list(name: string): string[] | undefined {
    const given = [...this.#query].filter(([key, value]) => nameOf(key) === name && value !== "");
    return given.length > 0 ? given.map(([, value]) => value) : undefined;
  }

  #refuse(field: string, message: string): void {
    this.problems.push({ field, message });
  }
}

function nameOf(parameter: string): string {
  return metaDataKey.test(parameter) ? "meta_data" : parameter.replace(index, "");
}
