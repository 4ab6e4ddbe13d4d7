import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import type { Actor } from "../../shared/accounts/audit.ts";
import { asOperator, createOrganization, updateOrganization } from "../../shared/accounts/organizations.ts";
import { createUser } from "../../shared/accounts/users.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { createPipeline, defaultStep } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import type { Services } from "../../shared/services/services.ts";
import { endpointUrl } from "../../shared/settings/urls.ts";
import { createTrigger } from "../../shared/triggers/create.ts";

/** Out of reach: the benches measure work, not limits. */
const deliveriesPerHour = 1_000_000_000;

/** An organization that filters, with a cluster and its default queue. */
export async function createFilteringOrganization(services: Services, slug: string) {
  await createOrganization(services, { slug, name: slug, deliveriesPerHour });
  const organization = await updateOrganization(services, slug, { features: { webhook_filtering: true } });
  const operator = await asOperator(services.db, organization);
  const cluster = await createCluster(services, operator, { name: "Bench" });
  const queue = await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  return { organization, operator, cluster, queue };
}

/** A pipeline of one command, with a trigger. */
export async function createEndpoint(
  services: Services,
  { operator, clusterId }: { operator: Actor; clusterId: string },
  { slug, filter = null }: { slug: string; filter?: string | null },
) {
  const input = { clusterId, slug, name: slug, steps: [defaultStep] };
  const pipeline = await createPipeline(services, operator, input);
  return { pipeline, ...(await addTrigger(services, operator, { pipeline, filter })) };
}

export async function addTrigger(
  services: Services,
  operator: Actor,
  { pipeline, filter }: { pipeline: Awaited<ReturnType<typeof createPipeline>>; filter: string | null },
) {
  const input = { type: "webhook", label: "Bench", filter };
  const { trigger, token } = await createTrigger(services, operator, pipeline, input);
  return { trigger, deliveryUrl: endpointUrl(services.config, token) };
}

export const password = "correct horse battery";

/** An admin of the organization, with an API token. */
export async function createAdmin(services: Services, organization: string, scopes: string[]) {
  const email = `ada@${organization}.example.com`;
  const user = await createUser(services, { email, name: "Ada", password, organization, role: "admin" });
  const { token } = await createAccessToken(services, { email, organization, scopes, description: "bench" });
  return { user, apiToken: token };
}
