import { type CountedGroup, listGroups } from "../../../shared/builds/groups/list-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { isStorable } from "../../../shared/validation.ts";
import { groupPath, groupsPath } from "../address/group.ts";
import { memberPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { EntryList, separator } from "../ui/tables.tsx";

const perPage = 30;
/** The most entries that are counted of a group. */
const maxCounted = 100;

/** GET …/groups */
export const groupsPage = memberPage(async ({ db }, request) => {
  const { organization, event } = request;
  const given = event.url.searchParams.get("after") ?? "";
  const after = isStorable(given) ? given : "";
  const found = await listGroups(db, organization.id, { after, limit: perPage + 1, maxCounted });
  const groups = found.slice(0, perPage);
  const last = found.length > perPage ? groups.at(-1)?.name : undefined;
  const path = groupsPath(request);
  return {
    title: "Concurrency groups",
    section: "clusters",
    content: (
      <>
        <h1>Concurrency groups</h1>
        <p>
          Steps of all pipelines that name a <code>concurrency_group</code> share it: no more of their jobs
          run at once than its <code>concurrency</code> says. A group is gone once no job needs it.
        </p>
        <EntryList rows={groups} empty="No job belongs to a group now.">
          {(group) => <Entry key={group.id} group={group} path={groupPath(request, group)} />}
        </EntryList>
        <CursorPager
          links={{
            "First page": after === "" ? undefined : path,
            Next: last === undefined ? undefined : `${path}?${new URLSearchParams({ after: last })}`,
          }}
        />
        <p>
          <a href={pathTo(patterns.clustersPage, { org: organization.slug })}>Clusters and queues</a>
        </p>
      </>
    ),
  };
});

function Entry({ group: { name, holders, waiting }, path }: { group: CountedGroup; path: string }) {
  return (
    <li class="entry">
      <div>
        <h2>
          <a href={path}>{name}</a>
        </h2>
        <p class="quiet">
          {inWords(holders, "job holds it", "jobs hold it")}
          {separator}
          {inWords(waiting, "waits", "wait")}
        </p>
      </div>
    </li>
  );
}

function inWords(count: number, one: string, many: string): string {
  const number = count >= maxCounted ? `${maxCounted} or more` : String(count);
  return `${number} ${count === 1 ? one : many}`;
}
