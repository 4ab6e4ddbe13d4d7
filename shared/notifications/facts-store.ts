import { eq, inArray } from "drizzle-orm";
import type { Tx } from "../db/database.ts";
import { isOneOf, prepared } from "../db/prepared.ts";
import { type News, subjectsOf } from "../news/store.ts";
import type { BuildState } from "../vocabulary.ts";

/** The facts by which services choose builds. */
export interface HeardBuild {
  id: string;
  pipelineId: string;
  clusterId: string | null;
  branch: string;
  state: BuildState;
  number: number;
}

/** The facts by which services choose news. */
export interface Facts {
  builds: ReadonlyMap<string, HeardBuild>;
  /** The clusters of agents. */
  clusters: ReadonlyMap<string, string>;
}

export async function findFacts(tx: Tx, news: readonly News[]): Promise<Facts> {
  const { agents } = tx.tables;
  const buildIds = subjectsOf(news, "buildId");
  const agentIds = subjectsOf(news, "agentId");
  const ofBuilds = buildIds.length === 0 ? [] : await heardBuilds(tx, { ids: buildIds });
  const ofAgents =
    agentIds.length === 0
      ? []
      : await tx
          .select({ id: agents.id, clusterId: agents.clusterId })
          .from(agents)
          .where(inArray(agents.id, agentIds));
  return {
    builds: new Map(ofBuilds.map((build) => [build.id, build])),
    clusters: new Map(ofAgents.map((agent) => [agent.id, agent.clusterId])),
  };
}

const heardBuilds = prepared<{ ids: string[] }, HeardBuild, Tx>((tx) => {
  const { builds, pipelines } = tx.tables;
  const { id, pipelineId, branch, state, number } = builds;
  return tx
    .select({ id, pipelineId, clusterId: pipelines.clusterId, branch, state, number })
    .from(builds)
    .innerJoin(pipelines, eq(pipelines.id, pipelineId))
    .where(isOneOf(id, "ids"));
});
