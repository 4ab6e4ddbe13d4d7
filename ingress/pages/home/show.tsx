import { listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import { listWorkOfOrganization } from "../../../shared/dispatch/figures-store.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import type { Services } from "../../../shared/services/services.ts";
import { BuildList } from "../builds/list.tsx";
import { withPipelines } from "../builds/load.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { loadNeeds, type Need } from "./needs.ts";
import { Needs } from "./needs-list.tsx";
import { loadNumbers, NumberLine } from "./numbers.tsx";

const maxBuilds = 5;
const maxQueues = 20;
/** Jobs and agents of a queue. */
const maxCounted = 100;

type Home = Awaited<ReturnType<typeof loadHome>>;

/** GET /organizations/:org: what is broken, what waits for the reader, and how the agents are. */
export const homePage = memberPage(async (services, request) => {
  const home = await loadHome(services, request);
  return {
    title: "Home",
    section: "home",
    topics: topicsOf(home),
    content: <HomeOf home={home} request={request} />,
  };
});

/** A few rows of each kind, by indexes. */
async function loadHome(services: Services, { organization }: MemberRequest) {
  const filter = { organizationId: organization.id, includePaused: true };
  const { rows } = await listBuildsInBrief(services.db, filter, { limit: maxBuilds, offset: 0 });
  const work = await listWorkOfOrganization(services.db.offLoop, organization.id, {
    limit: maxQueues,
    max: maxCounted,
  });
  return {
    numbers: await loadNumbers(services, organization),
    needs: await loadNeeds(services, organization, work),
    builds: await withPipelines(services, rows),
  };
}

/** The topics whose events reload an open page. */
function topicsOf({ needs, builds }: Home): Topic[] {
  const ofBuilds = builds.flatMap(({ build }): Topic[] => [
    `build:${build.id}`,
    `pipeline:${build.pipelineId}`,
  ]);
  return [...new Set<Topic>([...ofBuilds, ...needs.list.flatMap(topicsOfNeed)])];
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

function HomeOf({ home: { numbers, needs, builds }, request }: { home: Home; request: MemberRequest }) {
  const { slug: org, name } = request.organization;
  return (
    <>
      <h1 class="hidden">{name}</h1>
      <NumberLine numbers={numbers} paused={needs.paused} refused={needs.refused} org={org} />
      <Needs needs={needs.list} request={request} />
      {builds.length === 0 ? (
        <p class="empty">No build yet.</p>
      ) : (
        <BuildList builds={builds} org={org} namesPipeline />
      )}
    </>
  );
}
