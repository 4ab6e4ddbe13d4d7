import { updateMember } from "../../shared/accounts/members.ts";
import type { TestDatabase } from "./databases.ts";
import { startPages } from "./pages.ts";

export type QueuePages = Awaited<ReturnType<typeof startQueuePages>>;

/** The pages of an installation where Ada is an admin of acme and Bob a member of it. */
export async function startQueuePages(database: TestDatabase, settings: Record<string, string> = {}) {
  const pages = await startPages(database, settings);
  await updateMember(pages.services, { organization: "acme", email: pages.ada.email, role: "admin" });
  const { cluster, queue } = pages.acme;
  const at = `/organizations/acme/clusters/${cluster.id}`;
  return {
    ...pages,
    /** Where things of acme are. */
    paths: {
      clusters: "/organizations/acme/clusters",
      cluster: at,
      queue: `${at}/queues/${queue.id}`,
      pipelines: "/organizations/acme/pipelines",
      pipeline: "/organizations/acme/pipelines/web",
      build: (number: number) => `/organizations/acme/pipelines/web/builds/${number}`,
    },
    actor: { organization: pages.acme, userId: pages.ada.id },
  };
}
