import { type Visitor, visitor } from "../../scripts/scratch/visitor.ts";
import { addMember, updateMember } from "../../shared/accounts/members.ts";
import { createOrganization } from "../../shared/accounts/organizations.ts";
import { startSession } from "../../shared/accounts/sessions.ts";
import { findUser, insertUser, type User } from "../../shared/accounts/user-store.ts";
import { hourMs, minuteMs } from "../../shared/durations.ts";
import { newId } from "../../shared/ids.ts";
import { createApplication, type NewApplication } from "../../shared/oauth/applications.ts";
import type { TestDatabase } from "./databases.ts";
import { deviceGrantType } from "./device.ts";
import { type Answer, request } from "./http.ts";
import { setUpOrganization } from "./organization.ts";
import { startWorld, type World } from "./world.ts";

export type Pages = Awaited<ReturnType<typeof startPages>>;

export interface Codes {
  device_code: string;
  user_code: string;
  verification_uri_complete: string;
}

/**
 * Ada and Bob are members of acme; Ada is an admin of Globex. `Deploy CLI` uses the device flow.
 */
export async function startPages(database: TestDatabase, settings: Record<string, string> = {}) {
  const world = await startWorld(database, { DEVICE_AUTHORIZATIONS_PER_MINUTE: "10000", ...settings });
  const acme = await setUpOrganization(world);
  const globex = await createOrganization(world.services, { slug: "globex", name: "Globex Corporation" });
  await addMember(world.services, { organization: "globex", email: acme.user.email, role: "admin" });
  const bob = await addBob(world, acme.user);
  await addMember(world.services, { organization: "acme", email: bob.email, role: "member" });
  await addApplication(world);
  /** Skips the slow password check. */
  const newVisitor = async (user?: User): Promise<Visitor> =>
    visitor(world.url, user && (await cookieOf(world, user)));

  return {
    ...world,
    acme,
    globex,
    ada: acme.user,
    bob,
    ...device(world),
    cookieOf: (user: User) => cookieOf(world, user),
    visitor: newVisitor,
    asAda: await newVisitor(acme.user),
    asBob: await newVisitor(bob),
  };
}

export type QueuePages = Awaited<ReturnType<typeof startQueuePages>>;

/** Makes Ada an admin of acme. */
export async function startQueuePages(database: TestDatabase, settings: Record<string, string> = {}) {
  const pages = await startPages(database, settings);
  await updateMember(pages.services, { organization: "acme", email: pages.ada.email, role: "admin" });
  const { cluster, queue } = pages.acme;
  const at = `/organizations/acme/clusters/${cluster.id}`;
  return {
    ...pages,
    paths: {
      clusters: "/organizations/acme/clusters",
      cluster: at,
      queue: `${at}/queues/${queue.id}`,
      connections: "/organizations/acme/repository_connections",
      pipelines: "/organizations/acme/pipelines",
      pipeline: "/organizations/acme/pipelines/web",
      build: (number: number) => `/organizations/acme/pipelines/web/builds/${number}`,
    },
    actor: { organization: pages.acme, userId: pages.ada.id },
  };
}

/** The clock stands at 33 minutes past an hour: in the middle of the hour, and three minutes after a sample. */
export async function startQueuePagesAtHalfPast(database: TestDatabase) {
  const pages = await startQueuePages(database);
  const { clock } = pages;
  clock.freeze();
  clock.advance(hourMs + hourMs / 2 + 3 * minuteMs - (clock.now().getTime() % hourMs));
  return pages;
}

/** Reuses Ada's hash: hashing is slow. */
async function addBob({ services: { db } }: World, ada: User): Promise<User> {
  const bob = { ...ada, id: newId(ada.createdAt), email: "bob@acme.example.com", name: "Bob" };
  await db.transaction((tx) => insertUser(tx, bob));
  return bob;
}

export function addApplication({ services }: World, input: Partial<NewApplication> = {}) {
  return createApplication(services, {
    name: "Deploy CLI",
    clientId: "cli",
    confidential: false,
    deviceFlow: true,
    refreshTokens: false,
    ...input,
  });
}

async function cookieOf({ services }: World, user: User): Promise<string> {
  const present = await findUser(services.db, user.email);
  return `signalbox=${await startSession(services, present ?? user, "")}`;
}

function device({ url }: World) {
  const post = (path: string, fields: Record<string, string>, headers = {}): Promise<Answer> =>
    request(url + path, { method: "POST", body: new URLSearchParams(fields), headers });
  return {
    async authorize(fields: Record<string, string> = {}, userAgent = "deploy-cli/2.3"): Promise<Codes> {
      const defaults = { client_id: "cli", scope: "read_user" };
      const answer = await post(
        "/oauth/device_authorization",
        { ...defaults, ...fields },
        { "user-agent": userAgent },
      );
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    },
    async poll({ device_code }: Codes, clientId = "cli") {
      const { body } = await post("/oauth/token", {
        client_id: clientId,
        grant_type: deviceGrantType,
        device_code,
      });
      return body as { error?: string; access_token: string; scope: string };
    },
  };
}
