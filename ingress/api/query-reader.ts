import type { H3Event } from "h3";
import { z } from "zod";
import { requestNumberOf } from "../../shared/builds/rows/facts.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { excerpt, type Problem, validationFailed } from "../../shared/refusal.ts";
import { isStorable } from "../../shared/validation.ts";
import {
  type ArtifactState,
  artifactStates,
  type BuildState,
  type JobState,
  jobStatesOfFilter,
  statesOfFilter,
} from "../../shared/vocabulary.ts";

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const index = /\[\d*\]$/;
const metaDataKey = /^meta_data\[(.+)\]$/s;
const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
/** Clients may ask for states of the hosted service that no build has here. */
const otherStates = new Set(["creating", "waiting", "waiting_failed"]);
/** As `otherStates`, of jobs. */
const otherJobStates = new Set([
  ...["pending", "limiting", "platform_limiting", "platform_limited", "reserved", "accepted"],
]);
const maxMetaData = 10;

/** Reads the query. @throws Refusal 422 with all problems */
export function readQuery<T>({ url }: H3Event, read: (query: QueryReader) => T): T {
  const query = new QueryReader(url.searchParams);
  const result = read(query);
  if (query.problems.length > 0) throw validationFailed(...query.problems);
  return result;
}

/** Reads a query, any part of which is a filter. @param page the parameters of its pages. @throws Refusal 422 */
export function readFilterQuery<T>(event: H3Event, page: object, read: (query: QueryReader) => T): T {
  return readQuery(event, (query) => {
    const result = read(query);
    query.refuseUnread(Object.keys(page));
    return result;
  });
}

/** Gathers the problems of all parameters. */
export class QueryReader {
  readonly problems: Problem[] = [];
  readonly #query: URLSearchParams;
  /** Parameters as they were given. */
  readonly #unread: Set<string>;

  constructor(query: URLSearchParams) {
    this.#query = query;
    this.#unread = new Set(query.keys());
  }

  /** A filter that is ignored would answer too much: with brackets that of one value, too. */
  refuseUnread(others: string[]): void {
    const unknown = [...this.#unread].filter((name) => !others.includes(name));
    this.problems.unshift(
      ...unknown.map((field) => ({ field, message: `There is no filter ${excerpt(field)}` })),
    );
  }

  states(): BuildState[] | undefined {
    return this.#list("state")?.flatMap((state) => {
      const found = statesOfFilter(state);
      if (found) return found;
      if (!otherStates.has(state)) this.#refuse("state", `State ${excerpt(state)} is not a build state`);
      return [];
    });
  }

  jobStates(name: string): JobState[] | undefined {
    return this.#list(name)?.flatMap((state) => {
      const found = jobStatesOfFilter(state);
      if (found) return found;
      if (!otherJobStates.has(state)) this.#refuse(name, `State ${excerpt(state)} is not a job state`);
      return [];
    });
  }

  artifactState(name: string): ArtifactState | undefined {
    const state = this.#value(name);
    const found = artifactStates.find((each) => each === state);
    if (state && !found) this.#refuse(name, `State ${excerpt(state)} is not an artifact state`);
    return found;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value && !isStorable(value)) this.#refuse(name, `${name} must be text without NUL`);
    return value;
  }

  texts(name: "branch" | "commit"): string[] | undefined {
    const given = this.#list(name);
    const word = name === "branch" ? "Branch" : "Commit";
    if (given?.some((value) => value.includes("\0"))) this.#refuse(name, `${word} must be text without NUL`);
    return given;
  }

  id(name: string, refusal = "Creator must be the id of a user"): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const id = lowerCaseId(value);
    if (!isId(id)) this.#refuse(name, refusal);
    return id;
  }

  requestNumber(name: string): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const number = requestNumberOf(value);
    if (number === null) this.#refuse(name, `${name} must be the number of a pull request`);
    return number ?? undefined;
  }

  metaData(): [key: string, value: string][] | undefined {
    const given = [...this.#query].flatMap(([parameter, value]): [string, string][] => {
      const key = metaDataKey.exec(parameter)?.[1];
      if (key === undefined) return [];
      this.#unread.delete(parameter);
      return [[key, value]];
    });
    if (this.#unread.delete("meta_data"))
      this.#refuse("meta_data", "Meta-data must be given as meta_data[key]=value");
    if (given.length > maxMetaData)
      this.#refuse("meta_data", `Meta-data can be ${maxMetaData} entries at most`);
    if (!given.flat().every(isStorable)) this.#refuse("meta_data", "Meta-data must be text without NUL");
    return given.length > 0 ? given : undefined;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const known = booleans.get(value.toLowerCase());
    if (known === undefined) this.#refuse(name, `${name} must be true or false`);
    return known;
  }

  time(name: string): Date | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const date = new Date(time.safeParse(value).success ? value : Number.NaN);
    const year = date.getUTCFullYear();
    // Outside these years Postgres and ISO 8601 differ.
    if (!(year >= 1 && year <= 9999))
      this.#refuse(name, `${name} must be a time such as 2026-01-31T00:00:00Z`);
    return date;
  }

  /** An empty one counts as absent. */
  #value(name: string): string | undefined {
    this.#unread.delete(name);
    return this.#query.get(name) || undefined;
  }

  /** Clients write lists as `branch`, `branch[]` or `branch[0]`. */
  #list(name: string): string[] | undefined {
    const given = [...this.#query].filter(([key]) => key.replace(index, "") === name);
    for (const [key] of given) this.#unread.delete(key);
    const values = given.flatMap(([, value]) => value || []);
    return values.length > 0 ? values : undefined;
  }

  #refuse(field: string, message: string): void {
    this.problems.push({ field, message });
  }
}
