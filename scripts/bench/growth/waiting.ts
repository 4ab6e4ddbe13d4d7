import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { addBuilds, createTenant, type Tenant } from "../servers/tenant.ts";

const jobsOfBuild = 1000;
const parallelism = 100;
const maxWaiting = 100_000;

/** As many jobs wait as there are other rows, and 100,000 at most. */
export async function insertWaiting(services: Services, rows: number): Promise<Tenant> {
  const { tenant, owner } = await createTenant(services, { org: "stacks" });
  const { operator, cluster } = owner;
  const steps = Array.from({ length: jobsOfBuild / parallelism }, () => ({ ...defaultStep, parallelism }));
  const waiting = { name: "Waiting", slug: "waiting", clusterId: cluster.id, steps };
  const { id } = await createPipeline(services, operator, waiting);
  const builds = Math.ceil(Math.min(rows, maxWaiting) / jobsOfBuild);
  for (let build = 0; build < builds; build++) await addBuilds(services, id, 1);
  return tenant;
}
