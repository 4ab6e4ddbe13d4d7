import type { ComponentChildren } from "preact";
import type { ListedBuild } from "../../../../shared/builds/rows/build-store.ts";
import { pathTo, patterns } from "../../../../shared/paths.ts";
import { type Found, searchOrganization } from "../../../../shared/search/search.ts";
import type { Services } from "../../../../shared/services/services.ts";
import { BuildList, type PlacedBuild } from "../../builds/list.tsx";
import { withPipelines } from "../../builds/load.ts";
import { State } from "../../states/state.tsx";
import { type MemberRequest, memberPage } from "../../ui/member-page.ts";
import { BuildName, separator } from "../../ui/tables.tsx";
import { Time } from "../../ui/times.tsx";
import { addressOf, maxSearchLength, readSearch } from "../read.ts";

/** GET /organizations/:org/search?q= */
export const searchPage = memberPage(async (services, request) => {
  const org = request.organization.slug;
  const { q } = readSearch(request.event, ["q"]);
  const found = q === "" ? undefined : await load(services, request, q);
  return {
    title: "Search",
    section: "search",
    content: (
      <>
        <h1>Search</h1>
        <form class="search" action={pathTo(patterns.searchPage, { org })}>
          <p class="field">
            <label for="everything">Search in {request.organization.name}</label>
            <input id="everything" type="search" name="q" value={q} maxLength={maxSearchLength} />
          </p>
          <p class="actions">
            <button type="submit">Search</button>
          </p>
        </form>
        {found ? <Results found={found} text={q} org={org} /> : <Explanation />}
      </>
    ),
  };
});

type Placed = Omit<Found, BuildSection> & Record<BuildSection, PlacedBuild[]>;
type BuildSection = "builds" | "request" | "commit" | "branch" | "branches" | "message";

async function load(services: Services, { organization }: MemberRequest, text: string): Promise<Placed> {
  const { builds, request, commit, branch, branches, message, ...others } = await searchOrganization(
    services,
    organization.id,
    text,
  );
  const lists = [builds, request, commit, branch, branches, message];
  const placed = new Map((await withPipelines(services, lists.flat())).map((each) => [each.build.id, each]));
  const place = (list: ListedBuild[]) => list.flatMap(({ id }) => placed.get(id) ?? []);
  return {
    ...others,
    builds: place(builds),
    request: place(request),
    commit: place(commit),
    branch: place(branch),
    branches: place(branches),
    message: place(message),
  };
}

function Explanation() {
  return (
    <>
      <p>Here is what can be found:</p>
      <ul>
        <li>pipelines, queues, clusters, agents and members, by a part of their name</li>
        <li>
          builds by number (<code>#12</code>, or <code>web#12</code> of one pipeline), and by the number of
          their pull request
        </li>
        <li>
          builds by commit (7 characters or more), by the beginning of the name of their branch, or by words
          of their message and author, or beginnings of these
        </li>
        <li>deliveries by their id, or by the id that their sender gave them</li>
      </ul>
    </>
  );
}

function Results({ found, text, org }: { found: Placed; text: string; org: string }) {
  const { pipelines, builds, request, commit, branch, branches, message, deliveries } = found;
  const { queues, clusters, agents, members } = found;
  const searched = (filter: Record<string, string>) =>
    addressOf(pathTo(patterns.buildsPage, { org }), filter);
  const buildsOf = (id: string, title: string, rows: PlacedBuild[], filter?: Record<string, string>) => (
    <Builds id={id} title={title} builds={rows} org={org} all={filter && searched(filter)} />
  );
  const isEmpty = Object.values(found).every((list) => list.length === 0);
  return (
    <>
      {isEmpty && (
        <>
          <p class="empty">Nothing is called “{text}” here, and no build matches.</p>
          <Explanation />
        </>
      )}
      <Section id="pipelines" title="Pipelines" rows={pipelines}>
        {({ id, slug, name, archivedAt }) => (
          <Row key={id} path={pathTo(patterns.pipelinePage, { org, slug })} name={name}>
            {slug}
            {archivedAt && `${separator}archived`}
          </Row>
        )}
      </Section>
      {buildsOf("numbers", "Builds of this number", builds)}
      {buildsOf("requests", "Last builds of this pull request", request)}
      {buildsOf("commits", "Builds of this commit", commit, { commit: text })}
      {buildsOf("branches", "Builds of this branch", branch, { branch: text })}
      <Section id="branch-names" title="Branches" rows={branches}>
        {({ build, pipeline }) => (
          <Row key={build.id} path={searched({ branch: build.branch })} name={build.branch}>
            <BuildName pipeline={pipeline.name} number={build.number} />
            {separator}
            <Time at={build.createdAt} />
          </Row>
        )}
      </Section>
      {buildsOf("messages", "Builds with these words", message, { message: text })}
      <Section id="deliveries" title="Deliveries" rows={deliveries}>
        {({ id, externalId, event, receivedAt, trigger, pipeline }) => (
          <Row
            key={id}
            path={pathTo(patterns.deliveryPage, {
              org,
              slug: pipeline.slug,
              trigger: trigger.id,
              delivery: id,
            })}
            name={id}
          >
            {pipeline.name}
            {separator}
            {trigger.label}
            {separator}
            {event && `${event}${separator}`}
            {externalId && `${externalId}${separator}`}
            <Time at={receivedAt} />
          </Row>
        )}
      </Section>
      <Section id="queues" title="Queues" rows={queues}>
        {({ id, key, cluster }) => (
          <Row key={id} path={pathTo(patterns.queuePage, { org, cluster: cluster.id, queue: id })} name={key}>
            of the cluster {cluster.name}
          </Row>
        )}
      </Section>
      <Section id="clusters" title="Clusters" rows={clusters}>
        {({ id, name }) => (
          <Row key={id} path={pathTo(patterns.clusterPage, { org, cluster: id })} name={name} />
        )}
      </Section>
      <Section id="agents" title="Agents" rows={agents}>
        {({ id, name, hostname, state }) => (
          <Row key={id} path={pathTo(patterns.agentPage, { org, agent: id })} name={name}>
            {hostname} <State state={state} />
          </Row>
        )}
      </Section>
      <Section id="members" title="Members" rows={members}>
        {({ id, name, email }) => (
          <Row key={id} path={pathTo(patterns.membersPage, { org })} name={name}>
            {email}
          </Row>
        )}
      </Section>
    </>
  );
}

/** Nothing without rows. */
function Section<Found>({
  id,
  title,
  rows,
  children,
}: {
  id: string;
  title: string;
  rows: Found[];
  children: (row: Found) => ComponentChildren;
}) {
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="entries">{rows.map((row) => children(row))}</ul>
    </section>
  );
}

function Row({ path, name, children }: { path: string; name: string; children?: ComponentChildren }) {
  return (
    <li class="entry">
      <a href={path}>{name}</a>
      {children && <span class="quiet">{children}</span>}
    </li>
  );
}

/** @param all the page that lists all of them */
function Builds({
  id,
  title,
  builds,
  org,
  all,
}: {
  id: string;
  title: string;
  builds: PlacedBuild[];
  org: string;
  all: string | undefined;
}) {
  if (builds.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <BuildList builds={builds} org={org} namesPipeline />
      {all && (
        <p>
          <a href={all}>
            Show all<span class="hidden">: {title}</span>
          </a>
        </p>
      )}
    </section>
  );
}
