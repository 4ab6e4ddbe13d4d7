import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import type { Actor } from "../../shared/accounts/audit.ts";
import { asOperator, createOrganization } from "../../shared/accounts/organizations.ts";
import { createUser } from "../../shared/accounts/users.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { type CreatedTrigger, createTrigger } from "../../shared/triggers/create.ts";
import { plainTrigger } from "../../shared/triggers/input.ts";

/** Out of reach: the benches measure work, not limits. */
const deliveriesPerHour = 1_000_000_000;

/** An organization with a cluster. */
export async function createBenchOrganization(services: Services, slug: string) {
  const organization = await createOrganization(services, { slug, name: slug, deliveriesPerHour });
  const operator = await asOperator(services.db, organization);
  const cluster = await createCluster(services, operator, { name: "Bench" });
  return { organization, operator, cluster };
}

export const password = "correct horse battery";

/** An admin of the organization, with an API token. */
export async function createAdmin(services: Services, organization: string, scopes: string[]) {
  const email = `ada@${organization}.example.com`;
  const user = await createUser(services, { email, name: "Ada", password, organization, role: "admin" });
  const { token } = await createAccessToken(services, { email, organization, scopes, description: "bench" });
  return { user, apiToken: token };
}

export function addTrigger(
  services: Services,
  operator: Actor,
  pipeline: Pipeline,
  filter: string | null = null,
): Promise<CreatedTrigger> {
  return createTrigger(services, operator, pipeline, { ...plainTrigger, label: "Bench", filter });
}
