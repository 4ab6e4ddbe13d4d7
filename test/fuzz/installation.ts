import assert from "node:assert/strict";
import { eq } from "drizzle-orm";
import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import { updateMember } from "../../shared/accounts/members.ts";
import { features, updateOrganization } from "../../shared/accounts/organizations.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import { issueReadingToken } from "../../shared/builds/meta-data/meta-data.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { buildWebhook } from "../helpers/builds.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
import { runIngress, runWorker } from "../helpers/processes.ts";
import { secretKey, settingsOf, startWorld, type World } from "../helpers/world.ts";

export type Installation = Awaited<ReturnType<typeof startInstallation>>;
export type Tenant = Awaited<ReturnType<typeof setUpTenant>>;

const limits = `
  API_REQUESTS_PER_MINUTE DEVICE_AUTHORIZATIONS_PER_MINUTE CLIENT_FAILURES_PER_MINUTE
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT META_DATA_READS_PER_MINUTE META_DATA_CALLS_PER_MINUTE
  STACK_CALLS_PER_SECOND
  REFRESHES_PER_HOUR DELIVERY_REFUSALS_PER_MINUTE USER_CODE_FAILURES USER_CODE_FAILURES_PER_IP
  SIGN_IN_FAILURES SIGN_IN_FAILURES_PER_IP PIPELINES_PER_ORGANIZATION CLUSTERS_PER_ORGANIZATION
  QUEUES_PER_CLUSTER AGENTS_PER_ORGANIZATION MEMBERS_PER_ORGANIZATION REGISTRATION_TOKENS_PER_CLUSTER
  CONNECTED_APPS_PER_MEMBER ACCESS_TOKENS_PER_MEMBER`;
const unlimited = Object.fromEntries(
  limits
    .trim()
    .split(/\s+/)
    .map((name) => [name, "1000000"]),
);

/** Text in every resource of the other tenant. */
const foreignText = "only for globex";

const readScopes: Scope[] = [
  "read_user",
  "read_organizations",
  "read_clusters",
  "read_pipelines",
  "read_builds",
];
const allScopes: Scope[] = [...readScopes, "write_clusters", "write_pipelines", "write_builds"];

/** An ingress and a worker in processes of their own, with two tenants. */
export async function startInstallation(database: TestDatabase, settings: Record<string, string> = {}) {
  const given = { ...unlimited, TRUSTED_PROXIES: "127.0.0.1", ...settings };
  const world = await startWorld(database, given);
  const own = await setUpTenant(world, "acme");
  const foreign = await setUpTenant(world, "globex");
  await markForeign(world, foreign);

  const environment = { ...given, ...settingsOf(world), SECRET_KEY: secretKey, SHUTDOWN_SECONDS: "5" };
  const ingress = await runIngress(environment);
  const worker = await runWorker(environment);
  const before = await countForeignChanges(world, foreign);

  return {
    world,
    own,
    foreign,
    url: ingress.url,
    ingress,
    /** No process ended, none logged a bug, and the other tenant has no change. */
    async assertSound() {
      assert.equal(ingress.process.exitCode, null, ingress.output().slice(-2000));
      assert.equal(worker.process.exitCode, null, worker.output().slice(-2000));
      const { status, text } = await request(`${ingress.url}/readyz`);
      assert.equal(status, 200, text);
      const bugs = [ingress, worker].flatMap((each) => each.output().split("\n").filter(isBug));
      assert.deepEqual(bugs.slice(0, 3), []);
      assert.deepEqual(await countForeignChanges(world, foreign), before);
    },
    async close() {
      await Promise.all([ingress.kill("SIGTERM"), worker.kill("SIGTERM")]);
      await world.close();
    },
  };
}

/** A busy machine may answer for Redis too late. */
function isBug(line: string): boolean {
  if (line.includes("Redis cannot be reached")) return false;
  return /unexpected error|"level":"?(error|fatal|50|60)|Unhandled|FATAL/.test(line);
}

export function saysForeignText(text: string): boolean {
  return text.includes(foreignText);
}

async function setUpTenant(world: World, slug: string) {
  const { services } = world;
  const organization = await setUpOrganization(world, slug);
  const { operator, cluster, queue, pipeline, user } = organization;
  const enabled = Object.fromEntries(features.map((feature) => [feature, true]));
  await updateOrganization(services, slug, { features: enabled });
  await updateMember(services, { organization: slug, email: user.email, role: "admin" });
  const hosted = await createQueue(services, operator, cluster, {
    key: "hosted",
    instanceShape: "LINUX_AMD64_2X4",
  });
  const trigger = await organization.trigger();
  const build = await buildWebhook(world, (await organization.trigger()).path, `{"a":1,"b":"${slug}"}`);
  const delivery = await buildWebhook(world, trigger.path, '{"a":1}');
  const { db } = services;
  const { triggers } = db.tables;
  // Only a worker decides deliveries with a filter.
  const filter = "webhook.payload.a == 1";
  await db.transaction((tx) => tx.update(triggers).set({ filter }).where(eq(triggers.id, trigger.id)));
  const [job] = await db.select().from(db.tables.jobs).where(eq(db.tables.jobs.buildId, build.id));
  assert.ok(job && delivery.deliveryId);

  const reader = await addPerson(world, organization, "member");
  const issue = async (email: string, scopes: Scope[]) =>
    (await createAccessToken(services, { email, organization: slug, scopes, description: "" })).token;
  return {
    organization,
    user,
    reader,
    /** By parameter of a path. */
    ids: {
      org: slug,
      cluster: cluster.id,
      queue: queue.id,
      hosted: hosted.id,
      slug: pipeline.slug,
      number: String(build.number),
      trigger: trigger.id,
      delivery: delivery.deliveryId,
      job: job.id,
      build: build.id,
    },
    path: trigger.path,
    adminToken: await issue(user.email, allScopes),
    readerToken: await issue(reader.email, readScopes),
    jobToken: await issueReadingToken(services, job),
  };
}

async function markForeign({ services: { db } }: World, { ids }: Tenant): Promise<void> {
  const { clusters, queues, pipelines, triggers, builds } = db.tables;
  await db.transaction(async (tx) => {
    await tx.update(clusters).set({ description: foreignText }).where(eq(clusters.id, ids.cluster));
    await tx.update(queues).set({ description: foreignText }).where(eq(queues.clusterId, ids.cluster));
    await tx.update(pipelines).set({ name: foreignText }).where(eq(pipelines.clusterId, ids.cluster));
    await tx.update(triggers).set({ label: foreignText }).where(eq(triggers.id, ids.trigger));
    await tx.update(builds).set({ message: foreignText }).where(eq(builds.id, ids.build));
  });
}

async function countForeignChanges({ services: { db } }: World, { organization }: Tenant) {
  const { auditEvents, builds } = db.tables;
  const [events, made] = await Promise.all([
    db.select().from(auditEvents).where(eq(auditEvents.organizationId, organization.id)),
    db.select().from(builds).where(eq(builds.organizationId, organization.id)),
  ]);
  return { events: events.length, builds: made.length };
}
