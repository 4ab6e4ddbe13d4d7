import type { Build } from "../../../shared/builds/store.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { type ParametersOf, pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { clusterTitle } from "../clusters/title.ts";
import { eventsPath } from "../ui/live.ts";
import { memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { PublicPreview, State, Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadPipelineDetails } from "./load.ts";

/** GET /organizations/:org/pipelines/:slug */
export function pipelinePage(services: Services) {
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const { pipeline, cluster, list } = await loadPipelineDetails(services, request);
    const topics = list.rows.map(({ id }) => `build:${id}` as const);
    const parameters = { org: organization.slug, slug: pipeline.slug };
    return {
      title: pipeline.name,
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, [`pipeline:${pipeline.id}`, ...topics]),
      content: (
        <>
          <p class="back">
            <a href={pathTo(patterns.pipelinesPage, parameters)}>Pipelines</a>
          </p>
          <div class="heading">
            <h1>{pipeline.name}</h1>
            <p class="actions">
              <PublicPreview />
              <a class="button secondary" href={pathTo(patterns.triggersPage, parameters)}>
                Triggers
              </a>
            </p>
          </div>
          <Facts pipeline={pipeline} cluster={cluster} org={organization.slug} />
          <h2>Builds</h2>
          {list.rows.length === 0 ? (
            <p class="empty">
              No build yet. One is made for every webhook that a{" "}
              <a href={pathTo(patterns.triggersPage, parameters)}>trigger of this pipeline</a> receives.
            </p>
          ) : (
            <Builds builds={list.rows} parameters={parameters} now={services.clock.now()} />
          )}
          <NumberPager list={list} path={pathTo(patterns.pipelinePage, parameters)} />
        </>
      ),
    };
  });
}

function Facts({
  pipeline: { defaultBranch, steps },
  cluster,
  org,
}: {
  pipeline: Pipeline;
  cluster: Cluster | undefined;
  org: string;
}) {
  return (
    <dl class="facts panel">
      {cluster && (
        <>
          <dt>Runs in</dt>
          <dd>
            <a href={pathTo(patterns.clusterPage, { org, cluster: cluster.id })}>{clusterTitle(cluster)}</a>
          </dd>
        </>
      )}
      <dt>Default branch</dt>
      <dd>{defaultBranch}</dd>
      <dt>Steps</dt>
      <dd class="wide">
        <ol class="steps">
          {steps.map(({ label, command, agents }) => (
            <li key={`${label} ${command}`}>
              {label && `${label} `}
              <code>{command}</code>
              {agents?.queue && <span class="quiet"> on the queue {agents.queue}</span>}
            </li>
          ))}
        </ol>
      </dd>
    </dl>
  );
}

function Builds({
  builds,
  parameters,
  now,
}: {
  builds: Build[];
  parameters: ParametersOf<typeof patterns.pipelinePage>;
  now: Date;
}) {
  return (
    <Table caption="Builds" columns={["Build", "State", "Branch", "Created"]}>
      {builds.map((build) => (
        <tr key={build.id}>
          <th scope="row" class="described">
            <a href={pathTo(patterns.buildPage, { ...parameters, number: String(build.number) })}>
              #{build.number}
            </a>
            <span>{build.message}</span>
          </th>
          <td>
            <State state={build.state} isPaused={build.pausedQueueId !== null} />
          </td>
          <td>
            <span class="long">{build.branch}</span>
          </td>
          <td>
            <Time at={build.createdAt} now={now} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
