import { listRecentBuilds } from "../../../shared/builds/reading/branch-builds-store.ts";
import { type FirstSteps, findFirstSteps } from "../../../shared/builds/reading/first-steps-store.ts";
import { listClusterNames } from "../../../shared/clusters/store.ts";
import { listWorkOfOrganization } from "../../../shared/dispatch/figures-store.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import type { Services } from "../../../shared/services/services.ts";
import { listTriggersInBrief } from "../../../shared/triggers/store.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { loadMine, MyBuilds, QueueLines } from "./beside.tsx";
import { Checklist } from "./checklist.tsx";
import { areFirstStepsShown, type Progress } from "./first-steps.ts";
import { loadNeeds, type Need } from "./needs.ts";
import { Needs } from "./needs-list.tsx";
import { loadNumbers, NumberLine } from "./numbers.tsx";
import { Pipelines } from "./pipeline-rows.tsx";
import { type HomePipeline, loadPipelines } from "./pipelines.ts";

const maxQueues = 20;
/** Jobs and agents of a queue. */
const maxCountedOfQueue = 100;
/** The last builds of the organization, which order the pipelines. */
const maxRecentBuilds = 300;

type Home = Awaited<ReturnType<typeof loadHome>>;

/** GET /organizations/:org: what is broken, what waits for the reader, and how the agents are. */
export const homePage = memberPage(async (services, request) => {
  const home = await loadHome(services, request);
  return {
    title: "Home",
    section: "home",
    script: ["copy.js", "filter.js"],
    topics: topicsOf(home, request),
    content: <HomeOf home={home} request={request} />,
  };
});

/** A few rows of each kind, by indexes. */
async function loadHome(services: Services, request: MemberRequest) {
  const { organization, event, user } = request;
  const { db, clock } = services;
  const { id } = organization;
  const name = (event.url.searchParams.get("name") ?? "").slice(0, 200).replaceAll("\0", "");
  const queues = await listWorkOfOrganization(db.offLoop, {
    organizationId: id,
    limit: maxQueues + 1,
    max: maxCountedOfQueue,
  });
  const work = queues.slice(0, maxQueues);
  const recent = await listRecentBuilds(db, { organizationId: id, limit: maxRecentBuilds });
  const recentIds = [...new Set(recent.map(({ pipelineId }) => pipelineId))];
  const found = await findFirstSteps(db, { organizationId: id });
  const steps = found && areFirstStepsShown(found, clock.now()) ? found : undefined;
  const pipelines = await loadPipelines(
    services,
    { organizationId: id, userId: user.id },
    { name, recentIds },
  );
  return {
    name,
    work,
    hasMoreQueues: queues.length > maxQueues,
    numbers: await loadNumbers(services, organization),
    needs: await loadNeeds(services, request, work),
    pipelines,
    mine: await loadMine(services, id, user, recent),
    progress: steps && (await loadProgress(services, id, { steps, first: pipelines.rows[0] })),
  };
}

async function loadProgress(
  { db }: Services,
  organizationId: string,
  { steps, first }: { steps: FirstSteps; first: HomePipeline | undefined },
): Promise<Progress> {
  const [cluster] = await listClusterNames(db, organizationId, 1);
  if (!first) return { steps, cluster, pipeline: undefined, triggerId: undefined };
  const { id, slug, name, repository, lastBuildNumber } = first.pipeline;
  const [trigger] = await listTriggersInBrief(db, id, 1);
  const provider = await providerIn(db, { organizationId, repository });
  return {
    steps,
    cluster,
    pipeline: { slug, name, provider, lastBuildNumber },
    triggerId: trigger?.id,
  };
}

/** The topics whose events reload an open page. */
function topicsOf({ needs, pipelines, mine, work }: Home, { user }: MemberRequest): Topic[] {
  return [
    ...new Set<Topic>([
      `user:${user.id}`,
      ...pipelines.rows.map(({ pipeline }): Topic => `pipeline:${pipeline.id}`),
      ...mine.map(({ pipeline }): Topic => `pipeline:${pipeline.id}`),
      ...work.flatMap(({ queue, cluster }): Topic[] => [`queue:${queue.id}`, `cluster:${cluster.id}`]),
      ...needs.list.slice(0, maxQueues).flatMap(topicsOfNeed),
    ]),
  ];
}

function topicsOfNeed(need: Need): Topic[] {
  switch (need.kind) {
    case "refuses":
      return need.counts.slice(0, 1).map(({ triggerId }): Topic => `trigger:${triggerId}`);
    case "blocked":
      return [`build:${need.placed.build.id}`];
    case "no_agent":
      return need.queues.map(({ id }): Topic => `queue:${id}`);
    default:
      return [`queue:${need.queue.id}`];
  }
}

function HomeOf({
  home: { numbers, needs, pipelines, mine, work, hasMoreQueues, name, progress },
  request,
}: {
  home: Home;
  request: MemberRequest;
}) {
  const { slug: org, name: owner } = request.organization;
  const slug = pipelines.rows[0]?.pipeline.slug;
  return (
    <>
      <h1 class="hidden">{owner}</h1>
      <NumberLine numbers={numbers} needs={needs} org={org} />
      <Needs needs={needs.list} request={request} />
      {progress && <Checklist progress={progress} queue={work[0]} request={request} />}
      <div class="home" data-blocks="home">
        {(slug !== undefined || name !== "") && <Pipelines {...pipelines} name={name} org={org} />}
        <div data-blocks="beside">
          <MyBuilds mine={mine} org={org} />
          <QueueLines work={work} hasMore={hasMoreQueues} request={request} />
        </div>
      </div>
    </>
  );
}
