import type { H3Event } from "h3";
import type { BuildFilter } from "../../../shared/builds/list-store.ts";
import { excerpt, Refusal } from "../../../shared/refusal.ts";
import { isStorable } from "../../../shared/validation.ts";
import type { BuildState } from "../../../shared/vocabulary.ts";

/** The chips, and the states that they stand for. */
const chips: Record<string, BuildState[]> = {
  scheduled: ["scheduled"],
  running: ["running", "failing", "canceling"],
  passed: ["passed"],
  failed: ["failed"],
  canceled: ["canceled"],
};
const fields = ["branch", "commit", "message"] as const;
const labels = { branch: "Branch", commit: "Whole commit", message: "Part of the message" };
const maxLength = 1000;

export interface BuildSearch {
  state: string;
  branch: string;
  commit: string;
  message: string;
}

/** Reads the address. @throws Refusal 422 */
export function readBuildSearch({ url }: H3Event): BuildSearch {
  const read = (name: string) => url.searchParams.get(name)?.trim() ?? "";
  const search = {
    state: read("state"),
    branch: read("branch"),
    commit: read("commit"),
    message: read("message"),
  };
  if (search.state !== "" && !Object.hasOwn(chips, search.state))
    throw new Refusal(422, `State ${excerpt(search.state)} is not one of ${Object.keys(chips).join(", ")}.`);
  const odd = fields.find((name) => !isStorable(search[name]) || search[name].length > maxLength);
  if (odd)
    throw new Refusal(
      422,
      `The ${odd} to search for is too long, or holds a character that cannot be typed.`,
    );
  return search;
}

export function toFilter({ state, branch, commit, message }: BuildSearch): Partial<BuildFilter> {
  return {
    ...(state && { states: chips[state] }),
    ...(branch && { branches: [branch] }),
    ...(commit && { commits: [commit] }),
    ...(message && { message }),
  };
}

/** The search as parameters of an address. */
export function queryOf(search: BuildSearch): URLSearchParams {
  return new URLSearchParams(Object.entries(search).filter(([, value]) => value !== ""));
}

/** Chips with a link for each state, and a form for the rest. Their addresses can be shared. */
export function BuildSearchForm({ search, path }: { search: BuildSearch; path: string }) {
  const isSearching = fields.some((name) => search[name] !== "");
  return (
    <>
      <nav class="chips" aria-label="Builds by state">
        {["", ...Object.keys(chips)].map((state) => {
          const query = `${queryOf({ ...search, state })}`;
          return (
            <a
              key={state}
              href={query ? `${path}?${query}` : path}
              aria-current={state === search.state ? "page" : undefined}
            >
              {state === "" ? "All" : state}
            </a>
          );
        })}
      </nav>
      <details id="search" class="fold" open={isSearching}>
        <summary>Search</summary>
        <form class="search" action={path}>
          {search.state && <input type="hidden" name="state" value={search.state} />}
          {fields.map((name) => (
            <p key={name} class="field">
              <label for={`search-${name}`}>{labels[name]}</label>
              <input id={`search-${name}`} name={name} value={search[name]} maxLength={maxLength} />
            </p>
          ))}
          <p class="actions">
            <button type="submit">Search</button>
          </p>
        </form>
      </details>
    </>
  );
}
