import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { countAgents } from "../../../shared/agents/list-store.ts";
import { countBuildsByStates } from "../../../shared/builds/reading/list.ts";
import { maxCounted } from "../../../shared/db/list-page.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { deliveriesUsed, isNearLimit } from "../../../shared/triggers/deliveries/limit.ts";
import { blockedBuildStates, runningBuildStates } from "../../../shared/vocabulary.ts";
import { countInWords } from "../ui/pager.tsx";
import type { loadNeeds } from "./needs.ts";

export type Numbers = Awaited<ReturnType<typeof loadNumbers>>;

/** Counts builds and agents of an organization, each up to 1,000 and one more, and deliveries of its hourly limit. */
export async function loadNumbers(services: Services, organization: Organization) {
  const { db } = services;
  const { id } = organization;
  const states = [runningBuildStates, ["scheduled" as const], blockedBuildStates];
  const filter = { organizationId: id, includePaused: true };
  const [running, waiting, blocked] = await countBuildsByStates(db, filter, states, maxCounted + 1);
  return {
    running,
    waiting,
    blocked,
    agents: await countAgents(db, id, maxCounted + 1),
    limit: await deliveriesUsed(services, organization),
  };
}

/** One line of links: `3 run · 12 wait · 2 blocked for you`. */
export function NumberLine({
  numbers: { running, waiting, blocked, agents, limit },
  needs: { paused, refused, list },
  org,
}: {
  numbers: Numbers;
  needs: Awaited<ReturnType<typeof loadNeeds>>;
  org: string;
}) {
  const builds = (state: string) => `${pathTo(patterns.buildsPage, { org })}?state=${state}`;
  const queues = pathTo(patterns.clustersPage, { org });
  // Home lists no refusal of a trigger that took a later delivery.
  const isListed = list.some(({ kind }) => kind === "refuses");
  const isForReader = list.every((need) => need.kind !== "blocked" || need.isForReader);
  const deliveries = pathTo(patterns.deliveriesPage, { org });
  const busy = `of ${countInWords(agents.connected)} ${agents.connected === 1 ? "agent" : "agents"} busy`;
  return (
    <ul class="numbers" data-blocks="numbers" aria-label="Now">
      <Figure count={running} text="run" path={builds("running")} />
      <Figure count={waiting} text="wait" path={builds("scheduled")} />
      <Figure count={blocked} text={isForReader ? "blocked for you" : "blocked"} path={builds("blocked")} />
      <Figure count={paused} text={paused === 1 ? "queue paused" : "queues paused"} path={queues} />
      <Figure count={agents.busy} text={busy} path={queues} />
      <Figure count={refused} text="refused this hour" path={isListed ? "#needs" : deliveries} />
      {isNearLimit(limit) && (
        <li data-part="">
          <a href={deliveries}>
            <strong>{(limit.limit - limit.remaining).toLocaleString("en")}</strong> of{" "}
            {limit.limit.toLocaleString("en")} deliveries an hour used
          </a>
        </li>
      )}
    </ul>
  );
}

/** @param count undefined: too many builds to count */
function Figure({ count, text, path }: { count: number | undefined; text: string; path: string }) {
  return (
    <li data-part="" class={count === 0 ? "none" : undefined}>
      <a href={path}>
        <strong>{countInWords(count ?? maxCounted + 1)}</strong> {text}
      </a>
    </li>
  );
}
