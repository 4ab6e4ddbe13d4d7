import type { PlacedJob } from "../../../shared/builds/rows/graph-store.ts";
import { isStorable } from "../../../shared/validation.ts";
import { buildPath } from "../address/build.ts";
import { countKinds, kindsInWords, type StateKind } from "../states/kinds.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const maxNameLength = 100;

/** The jobs that the address asks for. */
export interface JobFilter {
  kind: StateKind | undefined;
  /** A part of the name. */
  name: string | undefined;
}

export function readJobFilter({ event }: MemberRequest): JobFilter {
  const { searchParams } = event.url;
  const kind = searchParams.get("state") ?? "";
  const name = (searchParams.get("name") ?? "").trim().slice(0, maxNameLength);
  return {
    kind: Object.hasOwn(kindsInWords, kind) ? (kind as StateKind) : undefined,
    name: name !== "" && isStorable(name) ? name : undefined,
  };
}

export function isFiltered({ kind, name }: JobFilter): boolean {
  return kind !== undefined || name !== undefined;
}

/** The parameters of an address with this filter. */
export function queryOfFilter({ kind, name }: JobFilter): URLSearchParams {
  return new URLSearchParams({ ...(kind && { state: kind }), ...(name && { name }) });
}

/** Links to the jobs of one kind, and a field for a name. */
export function JobFilters({
  placed,
  filter,
  request,
}: {
  /** All jobs of the build. */
  placed: PlacedJob[];
  filter: JobFilter;
  request: MemberRequest;
}) {
  const jobs = placed.filter(({ type, retriedInJobId }) => type !== "waiter" && retriedInJobId === null);
  const path = buildPath(request);
  const pathOf = (kind: StateKind | undefined) => {
    const query = queryOfFilter({ ...filter, kind });
    return `${path}${query.size > 0 ? `?${query}` : ""}#jobs`;
  };
  const kinds: [StateKind | undefined, number][] = [[undefined, jobs.length], ...countKinds(jobs)];
  return (
    <div class="filters" data-blocks="filters">
      <nav aria-label="Jobs by state">
        {kinds.map(([kind, count]) => (
          <a
            key={kind}
            href={pathOf(kind)}
            class={kind}
            aria-current={filter.kind === kind ? "true" : undefined}
          >
            {kind ? kindsInWords[kind] : "All"} <span class="quiet">{count.toLocaleString("en")}</span>
          </a>
        ))}
      </nav>
      <form data-part="" method="get" action={`${path}#jobs`}>
        {filter.kind && <input type="hidden" name="state" value={filter.kind} />}
        <label class="hidden" for="job-name">
          Name of a job
        </label>
        <input
          id="job-name"
          type="search"
          name="name"
          value={filter.name}
          maxLength={maxNameLength}
          placeholder="Name"
        />
        <button type="submit" class="secondary">
          Filter
        </button>
      </form>
    </div>
  );
}
