import type { ComponentChildren } from "preact";
import { findUser } from "../../../shared/accounts/user-store.ts";
import { maxCommitsOfPrefix, resolveCommit } from "../../../shared/builds/reading/commits.ts";
import { countBuildsByStates, listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import type { BuildFilter } from "../../../shared/builds/reading/list-plan-store.ts";
import { requestNumberOf } from "../../../shared/builds/rows/facts.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { excerpt, Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type BuildState, blockedBuildStates, runningBuildStates } from "../../../shared/vocabulary.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { Chips, SearchForm } from "../search/form.tsx";
import { nobody, queryOf, readDays, readSearch, requireKnown } from "../search/read.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { BuildList } from "./list.tsx";
import { withPipelines } from "./load.ts";

/** The chips, and the states that they stand for. */
const chips: Record<string, BuildState[]> = {
  scheduled: ["scheduled"],
  running: runningBuildStates,
  blocked: blockedBuildStates,
  passed: ["passed"],
  failed: ["failed"],
  canceled: ["canceled"],
};
const fields = [
  { name: "branch", label: "Branch" },
  { name: "commit", label: "Commit, or 7 characters of it" },
  { name: "pull_request", label: "Number of the pull request" },
  { name: "message", label: "Part of the message" },
  { name: "creator", label: "Creator: email address, or me" },
  { name: "from", label: "From (UTC)", type: "date" },
  { name: "to", label: "To (UTC)", type: "date" },
] as const;
const names = ["state", ...fields.map(({ name }) => name)] as const;
const perPage = 30;
/** A chip shows 99+. */
const maxCounted = 100;

export type BuildSearch = Awaited<ReturnType<typeof loadBuildSearch>>;

/**
 * One page of the builds that the address asks for, of a pipeline or of the whole organization.
 * @throws Refusal 422, 503
 */
export async function loadBuildSearch(services: Services, request: MemberRequest, pipeline?: PipelineFacts) {
  const { db } = services;
  const search = readSearch(request.event, names);
  requireKnown("State", search.state, Object.keys(chips));
  const scope = { organizationId: request.organization.id, pipelineId: pipeline?.id };
  const filter: BuildFilter = {
    ...scope,
    includePaused: true,
    ...(await toFilter(services, request, scope, search)),
  };
  const counts = await countBuildsByStates(db, filter, Object.values(chips), maxCounted);
  const states = chips[search.state];
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listBuildsInBrief(db, states ? { ...filter, states } : filter, page),
  );
  return {
    search,
    list,
    builds: await withPipelines(services, list.rows),
    counts: new Map(
      Object.keys(chips).flatMap((chip, i) => (counts[i] === undefined ? [] : [[chip, counts[i]] as const])),
    ),
    isSearching: Object.values(search).some((value) => value !== ""),
  };
}

/** @throws Refusal 422 */
async function toFilter(
  { db }: Services,
  { user }: MemberRequest,
  scope: Pick<BuildFilter, "organizationId" | "pipelineId">,
  { branch, commit, pull_request, message, creator, ...days }: Record<(typeof names)[number], string>,
): Promise<Partial<BuildFilter>> {
  const { from, to } = readDays(days);
  const commits = commit ? await resolveCommit(db, scope, commit) : undefined;
  if (commits && commits.length > maxCommitsOfPrefix)
    throw new Refusal(
      422,
      `More than ${maxCommitsOfPrefix} commits begin with ${excerpt(commit)}. Give more characters of it.`,
    );
  return {
    ...(branch && { branches: [branch] }),
    ...(commits && { commits }),
    ...(pull_request && { pullRequestNumber: toRequestNumber(pull_request) }),
    ...(message && { message }),
    ...(creator && { creatorId: creator === "me" ? user.id : await findCreatorId(db, creator) }),
    ...(from && { createdFrom: from }),
    ...(to && { createdTo: to }),
  };
}

/** @throws Refusal 422 */
function toRequestNumber(text: string): number {
  const number = requestNumberOf(text.replace(/^[#!]/, ""));
  if (number === null) throw new Refusal(422, `${excerpt(text)} is no number of a pull request.`);
  return number;
}

/** Returns an id that no user has if the address is unknown: a search must not tell which addresses are known. */
async function findCreatorId(db: Services["db"], email: string): Promise<string> {
  return (await findUser(db, email))?.id ?? nobody;
}

/** Chips, the form, the list and its pager. */
export function SearchedBuilds({
  found: { search, counts, builds, list, isSearching },
  path,
  org,
  namesPipeline = false,
  none,
}: {
  found: BuildSearch;
  path: string;
  org: string;
  namesPipeline?: boolean;
  /** The text for a pipeline or organization without builds. */
  none: ComponentChildren;
}) {
  if (builds.length === 0 && !isSearching) return <p class="empty">{none}</p>;
  return (
    <>
      <Chips
        search={search}
        path={path}
        counts={counts}
        name="state"
        label="Builds by state"
        values={Object.keys(chips)}
      />
      <SearchForm fields={fields} kept={["state"]} search={search} path={path} />
      {builds.length === 0 ? (
        <p class="empty">
          No build matches. <a href={path}>Show all builds</a>
        </p>
      ) : (
        <BuildList builds={builds} org={org} namesPipeline={namesPipeline} />
      )}
      <NumberPager list={list} path={path} query={queryOf(search)} />
    </>
  );
}
