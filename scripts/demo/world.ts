import { randomBytes } from "node:crypto";
import { asOperator, createOrganization, updateOrganization } from "../../shared/accounts/organizations.ts";
import { createUser } from "../../shared/accounts/users.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import type { Services } from "../../shared/services/services.ts";
import { createTrigger } from "../../shared/triggers/create.ts";
import type { Trigger } from "../../shared/triggers/store.ts";
import type { Step } from "../../shared/vocabulary.ts";

export const slug = "harbour";
const deliveriesPerHour = 10_000;

/** Keys of queues by name of cluster; the first is the default. */
const queuesOf = {
  Linux: ["default", "build", "test", "browser", "database", "docs"],
  Mobile: ["android", "ios", "signing"],
  Production: ["deploy", "smoke", "rollback"],
};

interface PipelineOutline {
  cluster: keyof typeof queuesOf;
  queues: string[];
  weight: number;
  /** Patterns of the branches on which its steps run. */
  branches?: string;
}

const pipelinesOf: Record<string, PipelineOutline> = {
  "Web shop": { cluster: "Linux", queues: ["build", "test", "browser"], weight: 8 },
  "Search index": { cluster: "Linux", queues: ["default", "database"], weight: 4 },
  Handbook: { cluster: "Linux", queues: ["docs"], weight: 3 },
  "Harbour app": { cluster: "Mobile", queues: ["android", "ios", "signing"], weight: 3 },
  Deployment: { cluster: "Production", queues: ["deploy", "smoke"], weight: 2, branches: "main" },
};

/** Steps of releases: a person lets each go on. Nothing behind a block is ever run. */
const releaseSteps: Step[] = [
  { type: "block", label: "Release to customers", if: 'build.branch == "main"' },
  {
    type: "block",
    label: "Release although checks failed",
    blocked_state: "failed",
    if: 'build.branch == "hotfix"',
  },
  {
    type: "block",
    label: "Go on with the rollout",
    blocked_state: "running",
    if: 'build.branch == "rollout"',
  },
  { label: "Publish", command: "make publish", agents: { queue: "rollback" } },
];

export interface DemoPipeline {
  pipeline: Pipeline;
  trigger: Trigger;
  /** Its share of the builds, in proportion to the others. */
  weight: number;
}

export type DemoWorld = Awaited<ReturnType<typeof makeDemoWorld>>;

/** Three clusters with twelve queues, five pipelines with a trigger each, and one of releases. */
export async function makeDemoWorld(services: Services) {
  await createOrganization(services, { slug, name: "Harbour", deliveriesPerHour });
  const organization = await updateOrganization(services, slug, { features: { webhook_filtering: true } });
  const actor = await asOperator(services.db, organization);
  const person = {
    email: `${slug}-${randomBytes(3).toString("hex")}@example.com`,
    name: "Grace",
    password: randomBytes(15).toString("base64url"),
  };
  const user = await createUser(services, { ...person, organization: slug, role: "admin" });

  const clusters = new Map<string, Awaited<ReturnType<typeof createCluster>>>();
  const queues = new Map<string, Awaited<ReturnType<typeof createQueue>>>();
  for (const [name, keys] of Object.entries(queuesOf)) {
    const cluster = await createCluster(services, actor, { name });
    clusters.set(name, cluster);
    for (const [at, key] of keys.entries())
      queues.set(key, await createQueue(services, actor, cluster, { key, isDefault: at === 0 }));
  }

  const pipelines: DemoPipeline[] = [];
  for (const [name, { cluster, queues: keys, weight, branches }] of Object.entries(pipelinesOf)) {
    const pipeline = await createPipeline(services, actor, {
      clusterId: clusters.get(cluster)?.id as string,
      slug: name.toLowerCase().replaceAll(" ", "-"),
      name,
      repository: `https://github.com/harbour-example/${name.toLowerCase().replaceAll(" ", "-")}.git`,
      steps: keys.map((key) => ({
        label: `Run ${key}`,
        command: `make ${key}`,
        agents: { queue: key },
        ...(branches && { branches }),
      })),
    });
    const { trigger } = await createTrigger(services, actor, pipeline, {
      type: "github",
      label: "Pushes to GitHub",
      buildMessage: "Built from a push",
      filter: 'webhook.payload.ref == "refs/heads/main"',
    });
    pipelines.push({ pipeline, trigger, weight });
  }
  const releases = await createPipeline(services, actor, {
    clusterId: clusters.get("Production")?.id as string,
    name: "Releases",
    repository: "https://github.com/harbour-example/releases.git",
    steps: releaseSteps,
    skipQueuedBranchBuilds: true,
  });
  return {
    organization,
    actor,
    pipelines,
    releases,
    queues,
    clusters: [...clusters.values()],
    person: { ...person, userId: user.id },
  };
}
