import { type Actor, auditAll } from "../../../shared/accounts/audit.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { addTrigger } from "../../scratch/organization.ts";
import { kilobyte } from "../bodies.ts";
import { addBuilds } from "../builds.ts";

const manyBuilds = 30_000;
const largePipelines = 100;
const manyEntries = 200_000;
const entriesAtOnce = 1000;
/** One for each round, and for its predecessors that were not finished. */
const jobsToTake = 20;

/** The organization to prepare, and its pipeline. */
export interface Owner {
  org: string;
  operator: Actor;
  cluster: Cluster;
  pipeline: Pipeline;
}

/** Members of the attacker that only one attack needs. */
export interface Prepared {
  /** The path of a build with 2,000 jobs. */
  largeBuild?: string;
  /** The URL of a trigger whose webhooks become 2,000 jobs. */
  amplifiedUrl?: string;
}

/** Makes rows of the attacker. */
export type Prepare = (services: Services, owner: Owner) => Promise<Prepared>;

/** By attack. The ingress starts after them. */
export const preparations = {
  async lists(services, { pipeline }) {
    await addBuilds(services, pipeline.id, manyBuilds);
    return {};
  },

  async largeLists(services, { operator, cluster }) {
    const steps = Array.from({ length: 100 }, () => ({ command: "x".repeat(9.9 * kilobyte) }));
    for (let number = 1; number <= largePipelines; number++) {
      const name = `large-${number}`;
      await createPipeline(services, operator, { clusterId: cluster.id, slug: name, name, steps });
    }
    return {};
  },

  async largeBuild(services, owner) {
    const { pipeline } = await createAmplifyingPipeline(services, owner);
    await addBuilds(services, pipeline.id, 1);
    const path = pathTo(patterns.build, { org: owner.org, slug: pipeline.slug, number: "1" });
    return { largeBuild: path };
  },

  async amplified(services, owner) {
    return { amplifiedUrl: (await createAmplifyingPipeline(services, owner)).deliveryUrl };
  },

  async exports({ db }, { operator, pipeline }) {
    const subject = { type: "pipeline" as const, id: pipeline.id, name: pipeline.slug };
    const changes = [{ field: "description", before: "a".repeat(100), after: "b".repeat(100) }];
    const acts = Array.from({ length: entriesAtOnce }, () => ({ actor: operator, subject, changes }));
    for (let done = 0; done < manyEntries; done += entriesAtOnce)
      await db.transaction((tx) => auditAll(tx, "updated", acts));
    return {};
  },

  logs: addJobs,
  artifactUploads: addJobs,
  artifactDownloads: addJobs,
} satisfies Record<string, Prepare>;

async function addJobs(services: Services, { pipeline }: Owner): Promise<Prepared> {
  await addBuilds(services, pipeline.id, jobsToTake);
  return {};
}

/** 20 steps of 8 KB with 100 jobs each: the largest build of one webhook. */
async function createAmplifyingPipeline(services: Services, { operator, cluster }: Owner) {
  const slug = "amplified";
  const command = "x".repeat(7.5 * kilobyte);
  const steps = Array.from({ length: 20 }, () => ({ ...defaultStep, command, parallelism: 100 }));
  const pipeline = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug,
    name: slug,
    steps,
  });
  return { pipeline, ...(await addTrigger(services, operator, { pipeline, filter: null })) };
}
