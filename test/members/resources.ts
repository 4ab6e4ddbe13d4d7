import { agentTokenMembers } from "../../shared/agents/members.ts";
import { createCluster, requireCluster } from "../../shared/clusters/clusters.ts";
import { clusterMembers } from "../../shared/clusters/members.ts";
import { connectionMembers } from "../../shared/connections/members.ts";
import type { AnyMembers } from "../../shared/members/member.ts";
import { pipelineMembers } from "../../shared/pipelines/members.ts";
import { queueMembers } from "../../shared/queues/members.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { scheduleMembers } from "../../shared/schedules/members.ts";
import { secretMembers } from "../../shared/secrets/members.ts";
import { unique } from "../helpers/api.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { type QueuePages, startQueuePages } from "../helpers/pages.ts";

/** Opens pages of acme, and calls its REST API as an admin. */
export async function openResources(database: TestDatabase) {
  const pages = await startQueuePages(database, {
    API_REQUESTS_PER_MINUTE: "100000",
    CLUSTERS_PER_ORGANIZATION: "1000",
    QUEUES_PER_CLUSTER: "1000",
    SECRETS_PER_CLUSTER: "1000",
    SCHEDULES_PER_PIPELINE: "1000",
    REGISTRATION_TOKENS_PER_CLUSTER: "1000",
    PIPELINES_PER_ORGANIZATION: "5000",
    REPOSITORY_CONNECTIONS_PER_ORGANIZATION: "1000",
    NOTIFICATION_SERVICES_PER_ORGANIZATION: "1000",
  });
  const token = await pages.acme.token(
    ...(["read_clusters", "write_clusters", "read_secrets_details", "write_secrets"] as const),
    ...(["read_pipelines", "write_pipelines", "write_builds"] as const),
    ...(["read_organization_repository_connections", "write_organization_repository_connections"] as const),
  );
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const send = (method: string, path: string, body?: object) =>
    request(`${pages.url}/v2/organizations/acme${path}`, {
      method,
      headers,
      ...(body && method !== "GET" && { body: JSON.stringify(body) }),
    });
  await createCluster(pages.services, pages.actor, { name: "Second" });
  return {
    ...pages,
    send,
    /** A new row, without a secret that only this answer shows. */
    async make(resource: Resource, given: object = {}) {
      const { status, body, text } = await send("POST", resource.path(pages), {
        ...resource.body(pages),
        ...given,
      });
      if (status !== 201) throw new Error(text);
      const { token: _secret, ...row } = body;
      return { at: addressOf(resource, pages, row), row: row as Row };
    },
    async list(resource: Resource): Promise<Row[]> {
      const rows: Row[] = [];
      for (let page = 1; rows.length === (page - 1) * 100; page++)
        rows.push(...(await send("GET", `${resource.path(pages)}?per_page=100&page=${page}`)).body);
      return rows;
    },
  };
}

/** Relative to the organization. */
export function addressOf(resource: Resource, pages: QueuePages, row: Row): string {
  return `${resource.path(pages)}/${row[resource.key ?? "id"]}`;
}

export type Row = Record<string, unknown> & { id: string };

/** A resource whose members are declared once. */
export interface Resource {
  /** As the wire contract calls it. */
  name: string;
  /** Of its entries in the audit log. */
  subject: string;
  members: AnyMembers;
  /** The list, relative to the organization. Its pages have the same addresses. */
  path(pages: QueuePages): string;
  /** The member that names a row in addresses. Default: its id. */
  key?: "slug";
  /** Default: its lists begin with the oldest row. */
  isNewestFirst?: true;
  /** Members that the resource tests itself, by column. */
  own?: string[];
  /** A body with the members that a create requires. */
  body(pages: QueuePages): Record<string, unknown>;
  /** Addresses of forms, relative to the list and to a row. A list with the form of new rows shows the members of all. */
  forms: {
    create: "" | "/new" | "/../new-pipeline";
    change?: "" | "/edit";
    delete: "/delete" | "/revoke";
    /** False: the list shows all of a row. */
    hasPage?: false;
    /** Fields of a new row. Default: the body. */
    fields?(pages: QueuePages): Record<string, string>;
    /** All members of the organization may send them. */
    areForAll?: true;
  };
  /**
   * Two values of members that refer to other rows, by column.
   * @param id of the row that gets them; none: a new one
   */
  samples?(pages: QueuePages, id?: string): Promise<Record<string, [unknown, unknown]>>;
  /** Members that answers have elsewhere than under their own names. */
  elsewhere?: Record<string, (row: Row) => unknown>;
  /** Makes a member's text longer, by column, where it is not just any text. */
  lengthen?: Record<string, (length: number) => string>;
}

const hostUrl = () => `https://${unique("git")}.example.com`;
const longUrl = (length: number) => `${hostUrl()}/`.padEnd(length, "x");

const inCluster = (list: string) => (pages: QueuePages) => `/clusters/${pages.acme.cluster.id}/${list}`;

export const resources: Resource[] = [
  {
    name: "clusters",
    subject: "cluster",
    members: clusterMembers,
    path: () => "/clusters",
    body: () => ({ name: unique("Cluster") }),
    forms: { create: "", change: "/edit", delete: "/delete" },
    samples: async ({ services, actor, acme }, id = acme.cluster.id) => {
      const cluster = await requireCluster(services.db, acme.id, id);
      const make = (key: string) => createQueue(services, actor, cluster, { key });
      return { defaultQueueId: [(await make(unique("one"))).id, (await make(unique("other"))).id] };
    },
  },
  {
    name: "queues",
    subject: "queue",
    members: queueMembers,
    path: inCluster("queues"),
    body: () => ({ key: unique("queue") }),
    forms: { create: "/new", change: "/edit", delete: "/delete" },
  },
  {
    name: "secrets",
    subject: "secret",
    members: secretMembers,
    path: inCluster("secrets"),
    body: () => ({ key: unique("KEY").replace("-", "_"), value: "hunter2" }),
    forms: { create: "", change: "", delete: "/delete" },
  },
  {
    name: "tokens",
    subject: "agent_token",
    members: agentTokenMembers,
    path: inCluster("tokens"),
    body: () => ({}),
    forms: { create: "", delete: "/revoke" },
    samples: async ({ acme }) => ({ queueId: [acme.queue.id, acme.queue.id] }),
  },
  {
    name: "schedules",
    subject: "schedule",
    members: scheduleMembers,
    isNewestFirst: true,
    own: ["cronline", "commit", "branch", "env"],
    path: () => "/pipelines/web/schedules",
    body: () => ({ cronline: "@daily" }),
    forms: { create: "/new", change: "/edit", delete: "/delete", areForAll: true },
  },
  {
    name: "pipelines",
    subject: "pipeline",
    members: pipelineMembers,
    path: () => "/pipelines",
    key: "slug",
    body: ({ acme }) => ({ name: unique("Pipeline"), cluster_id: acme.cluster.id, steps: [] }),
    own: [
      ...["slug", "defaultCommandStepTimeout", "maximumCommandStepTimeout", "steps", "configuration"],
      ...["visibility", "pipelineTemplateUuid", "teams"],
    ],
    forms: {
      create: "/../new-pipeline",
      change: "/edit",
      delete: "/delete",
      areForAll: true,
      // The page of a pipeline shows the branches of what it does.
      fields: ({ acme }) => ({
        ...{ name: unique("Pipeline"), cluster: acme.cluster.id, steps: "[]" },
        ...{ skip_queued_branch_builds: "1", cancel_running_branch_builds: "1" },
      }),
    },
    samples: async ({ services, actor, acme }) => {
      const other = await createCluster(services, actor, { name: unique("Cluster") });
      return {
        clusterId: [acme.cluster.id, other.id],
        environment: [{ A: "1" }, { B: "" }],
      };
    },
  },
  {
    name: "repository connections",
    subject: "repository_connection",
    members: connectionMembers,
    path: () => "/repository_connections",
    body: () => ({ type: "gitea", url: hostUrl() }),
    forms: { create: "/new", change: "", delete: "/delete" },
    samples: async () => ({
      type: ["gitlab_self_managed", "bitbucket_server"],
      url: [hostUrl(), hostUrl()],
      apiUrl: [hostUrl(), hostUrl()],
    }),
    elsewhere: { url: ({ host }) => (host as { url: string }).url },
    lengthen: { url: longUrl, apiUrl: longUrl },
  },
];
