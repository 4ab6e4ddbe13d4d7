import { password } from "../../scripts/scratch/organization.ts";
import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import { addMember } from "../../shared/accounts/members.ts";
import { findOrganization } from "../../shared/accounts/organization-store.ts";
import { asOperator, createOrganization } from "../../shared/accounts/organizations.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import { insertUser, type User } from "../../shared/accounts/user-store.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { operatorNetworks } from "../../shared/crypto/passwords.ts";
import { newId } from "../../shared/ids.ts";
import { createPipeline, requirePipeline } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { createTrigger } from "../../shared/triggers/create.ts";
import type { NewTrigger } from "../../shared/triggers/members.ts";
import type { Role } from "../../shared/vocabulary.ts";
import type { TestDatabase } from "./databases.ts";
import { cheapPasswords, startWorld, type World } from "./world.ts";

export type TestOrganization = Awaited<ReturnType<typeof setUpOrganization>>;

export { password };

/** Creates an organization with a cluster, a default queue and the pipeline `web`. */
export async function setUpOrganization(
  { services }: Pick<World, "services">,
  slug = "acme",
  deliveriesPerHour = 1_000_000,
) {
  const organization = await createOrganization(services, { slug, name: slug, deliveriesPerHour });
  const operator = await asOperator(services.db, organization);
  const cluster = await createCluster(services, operator, { name: "Primary" });
  const queue = await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const pipeline = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug: "web",
    name: "Web",
    steps: [{ command: "make test" }],
  });
  const user = await addUser({ services }, slug, { email: `ada@${slug}.example.com`, name: "Ada" });

  return {
    ...organization,
    operator,
    cluster,
    queue,
    pipeline,
    user,
    async token(...scopes: Scope[]) {
      const { token } = await createAccessToken(services, {
        email: user.email,
        organization: slug,
        scopes,
        description: "",
      });
      return token;
    },
    async trigger(input: Partial<NewTrigger> = {}, pipeline = "web") {
      const of = await requirePipeline(services.db, organization.id, pipeline);
      const present = await findOrganization(services.db, slug);
      const actor = { ...operator, organization: present ?? organization };
      const created = await createTrigger(services, actor, of, {
        type: "webhook",
        label: "Test",
        ...input,
      });
      const { trigger, token } = created;
      return { ...trigger, organizationId: organization.id, token, path: `/deliver/${token}` };
    },
  };
}

/** Starts an installation with the organization `acme`. */
export async function openAcme(database: TestDatabase, settings: Record<string, string> = {}) {
  const world = await startWorld(database, settings);
  return { ...world, acme: await setUpOrganization(world) };
}

let people = 0;

export function addPerson(
  { services }: Pick<World, "services">,
  { slug }: { slug: string },
  role: Role = "member",
): Promise<User> {
  const person = { email: `person-${++people}@${slug}.example.com`, name: "Person" };
  return addUser({ services }, slug, person, role);
}

const passwordHash = await cheapPasswords().hash(password, operatorNetworks);

async function addUser(
  { services }: Pick<World, "services">,
  organization: string,
  { email, name }: { email: string; name: string },
  role: Role = "member",
): Promise<User> {
  const { db, clock } = services;
  const now = clock.now();
  const user = {
    id: newId(now),
    email,
    name,
    passwordHash,
    operatorOfId: null,
    deactivatedAt: null,
    hasShortcuts: true,
    createdAt: now,
  };
  await db.transaction((tx) => insertUser(tx, user));
  await addMember(services, { organization, email, role });
  return user;
}
