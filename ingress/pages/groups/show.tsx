import type { Group } from "../../../shared/builds/groups/entries-store.ts";
import { findGroup, type ListedEntry, listEntries } from "../../../shared/builds/groups/list-store.ts";
import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { EntryStanding } from "../../../shared/vocabulary.ts";
import { type NumberedList, readPageOf, readWithin } from "../../http/number-pager.ts";
import { groupPath, groupsPath } from "../address/group.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { NumberPager } from "../ui/pager.tsx";
import { BuildName, EntryList, separator } from "../ui/tables.tsx";
import { Age } from "../ui/times.tsx";

const perPage = 30;

interface Part {
  standing: EntryStanding;
  title: string;
  empty: string;
}

const parts: Part[] = [
  { standing: "holding", title: "Jobs that hold the group", empty: "No job holds the group." },
  {
    standing: "limited",
    title: "Jobs that wait for the group alone",
    empty: "No job waits for the group alone.",
  },
  {
    standing: "waiting",
    title: "Jobs that wait for other steps, and keep their place",
    empty: "No job of the group waits for other steps.",
  },
];

/** GET …/groups/:group. Jobs are in the order of the group. */
export const groupPage = memberPage(async (services, request) => {
  const group = await loadGroup(services, request);
  const lists = [];
  for (const part of parts)
    lists.push({
      ...part,
      list: await readWithin(readPageOf(request.event, perPage, `${part.standing}_`), (page) =>
        listEntries(services.db, { groupId: group.id, standing: part.standing }, page),
      ),
    });
  const entries = lists.flatMap(({ list }) => list.rows.map(({ jobId }) => jobId));
  const jobs = await listJobsById(services.db, entries);
  return {
    title: group.name,
    section: "clusters",
    content: (
      <>
        <h1>
          Concurrency group <code>{group.name}</code>
        </h1>
        {lists.map((each) => (
          <Entries key={each.standing} {...each} group={group} jobs={jobs} request={request} />
        ))}
      </>
    ),
  };
});

/** @throws Refusal 404 */
async function loadGroup({ db }: Services, request: MemberRequest): Promise<Group> {
  const { organization, parameter, event } = request;
  addCrumbs(event, { text: "Concurrency groups", path: groupsPath(request), isList: true });
  const id = parameter("group");
  const group = isId(id) ? await findGroup(db, organization.id, id) : undefined;
  if (!group) throw notFound("concurrency group");
  addCrumbs(event, { text: group.name, path: groupPath(request, group) });
  return group;
}

function Entries({
  standing,
  title,
  empty,
  list,
  group,
  jobs,
  request,
}: Part & {
  list: NumberedList & { rows: ListedEntry[] };
  group: Group;
  jobs: ReadonlyMap<string, Job>;
  request: MemberRequest;
}) {
  return (
    <section aria-labelledby={standing}>
      <h2 id={standing}>{title}</h2>
      <EntryList rows={list.rows} empty={empty}>
        {(entry) => (
          <li class="entry" key={entry.jobId}>
            <Entry entry={entry} job={jobs.get(entry.jobId)} request={request} />
          </li>
        )}
      </EntryList>
      <NumberPager
        list={list}
        path={groupPath(request, group)}
        prefix={`${standing}_`}
        label={title}
        section={standing}
      />
    </section>
  );
}

function Entry({
  entry,
  job,
  request: { organization },
}: {
  entry: ListedEntry;
  job: Job | undefined;
  request: MemberRequest;
}) {
  const { jobId, pipelineSlug, pipelineName, buildNumber, limit, isEager, priority, orderedAt } = entry;
  const path = pathTo(patterns.jobPage, {
    org: organization.slug,
    slug: pipelineSlug,
    number: String(buildNumber),
    job: jobId,
  });
  return (
    <div>
      <p>
        <a href={path}>{job ? titleOf(job) : "Job"}</a> of{" "}
        <BuildName pipeline={pipelineName} number={buildNumber} />
      </p>
      <p class="quiet">
        {limit === 1 ? "One at a time" : `${limit} at once`}
        {separator}
        in line for <Age from={orderedAt} />
        {isEager && `${separator}eager, priority ${priority}`}
      </p>
    </div>
  );
}
