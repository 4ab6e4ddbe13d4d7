import type { Scope } from "../../shared/accounts/scopes.ts";
import { agentTokenMembers } from "../../shared/agents/members.ts";
import { createCluster, requireCluster } from "../../shared/clusters/clusters.ts";
import { clusterMembers } from "../../shared/clusters/members.ts";
import { connectionMembers } from "../../shared/connections/members.ts";
import { pipelineMembers } from "../../shared/pipelines/members.ts";
import { queueMembers } from "../../shared/queues/members.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { scheduleMembers } from "../../shared/schedules/members.ts";
import { secretMembers } from "../../shared/secrets/members.ts";
import { unique } from "../helpers/api.ts";
import type { Resource } from "./resource.ts";

const hostUrl = () => `https://${unique("git")}.example.com`;
const longUrl = (length: number) => `${hostUrl()}/`.padEnd(length, "x");

const inCluster = "/clusters/:cluster";
const ofClusters: [Scope, Scope] = ["read_clusters", "write_clusters"];
const described = { description: "Changed" };
const ofAcme = ["--org", "acme"];
const ofPrimary = [...ofAcme, "--cluster", "Primary"];

export const resources: Resource[] = [
  {
    name: "clusters",
    subject: "cluster",
    members: clusterMembers,
    path: "/clusters",
    parameter: "cluster",
    operations: { noun: "Cluster", scopes: ofClusters, notFound: "No cluster found" },
    body: () => ({ name: unique("Cluster") }),
    change: described,
    forms: { create: "", change: "/edit", delete: "/delete" },
    command: {
      noun: "cluster",
      owner: ofAcme,
      key: ["--cluster", "name"],
      plural: "clusters",
      hasUpdate: false,
    },
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
    path: `${inCluster}/queues`,
    parameter: "queue",
    operations: { noun: "Queue", scopes: ofClusters, notFound: "No cluster queue found" },
    body: () => ({ key: unique("queue") }),
    change: described,
    forms: { create: "/new", change: "/edit", delete: "/delete", hasList: false },
    command: { noun: "queue", owner: ofPrimary, key: ["--queue", "key"], plural: "queues" },
  },
  {
    name: "tokens",
    subject: "agent_token",
    members: agentTokenMembers,
    path: `${inCluster}/tokens`,
    parameter: "token",
    operations: {
      noun: "ClusterToken",
      scopes: ofClusters,
      ending: "revoke",
      notFound: "No cluster token found",
    },
    body: () => ({}),
    change: described,
    forms: { create: "", delete: "/revoke", hasList: false, hasPage: false },
    samples: async ({ acme }) => ({ queueId: [acme.queue.id, acme.queue.id] }),
    examples: {
      creates: [
        ["A token, shown this once", { description: "Machines in the basement" }],
        ["An address", { allowed_ip_addresses: "10.0.0.0/8" }],
      ],
      changes: [
        ["Another description", { description: "Cellar" }],
        ["Another description", { description: "Attic" }],
      ],
    },
  },
  {
    name: "secrets",
    subject: "secret",
    members: secretMembers,
    path: `${inCluster}/secrets`,
    parameter: "secret",
    operations: {
      noun: "ClusterSecret",
      scopes: ["read_secrets_details", "write_secrets"],
      notFound: "No secret found",
    },
    body: () => ({ key: unique("KEY").replace("-", "_"), value: "hunter2" }),
    change: described,
    forms: { create: "", change: "", delete: "/delete" },
    command: {
      noun: "cluster-secret",
      owner: ofPrimary,
      key: ["--key", "key"],
      plural: "secrets",
      input: "hunter2",
      hasUpdate: false,
    },
    examples: {
      creates: [
        [
          "A secret for builds of one branch",
          {
            key: "DEPLOY_TOKEN",
            value: "correct horse battery staple",
            description: "Deploys the site",
            policy: "- pipeline_slug: site\n  build_branch: main\n",
          },
        ],
        ["A key that is taken", { key: "DEPLOY_TOKEN", value: "x" }],
      ],
      changes: [
        ["For every job", { policy: null }],
        ["Another description", { description: "Deploys all sites" }],
      ],
      others: (send, path) =>
        send("replaceClusterSecretValue", "Another value", { path, json: { value: "Tr0ub4dor&3" } }),
    },
  },
  {
    name: "schedules",
    subject: "schedule",
    members: scheduleMembers,
    isNewestFirst: true,
    own: ["cronline", "commit", "branch", "env"],
    path: "/pipelines/:slug/schedules",
    parameter: "schedule",
    operations: {
      noun: "Schedule",
      scopes: ["read_pipelines", "write_pipelines"],
      writers: "member",
      notFound: "No schedule found",
    },
    body: () => ({ cronline: "@daily" }),
    change: { label: "Changed" },
    forms: { create: "/new", change: "/edit", delete: "/delete", areForAll: true },
    examples: {
      creates: [
        [
          "On weekdays at eight in Berlin",
          { label: "Morning", cronline: "0 8 * * 1-5 Europe/Berlin", env: { DEEP: "1" } },
        ],
        ["Too often", { cronline: "* * * * *" }],
      ],
      changes: [
        ["Off for now", { enabled: false }],
        ["At night", { cronline: "@daily", enabled: true }],
      ],
    },
  },
  {
    name: "pipelines",
    subject: "pipeline",
    members: pipelineMembers,
    path: "/pipelines",
    parameter: "slug",
    operations: {
      noun: "Pipeline",
      scopes: ["read_pipelines", "write_pipelines"],
      writers: "member",
      notFound: "No pipeline found",
    },
    key: "slug",
    body: ({ acme }) => ({ name: unique("Pipeline"), cluster_id: acme.cluster.id, steps: [] }),
    change: { default_branch: "changed" },
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
    path: "/repository_connections",
    parameter: "connection",
    operations: {
      noun: "RepositoryConnection",
      scopes: ["read_organization_repository_connections", "write_organization_repository_connections"],
      readers: "admin",
      notFound: "No repository connection found",
    },
    body: () => ({ type: "gitea", url: hostUrl() }),
    change: { publish_statuses: false },
    forms: { create: "/new", change: "", delete: "/delete" },
    samples: async () => ({
      type: ["gitlab_self_managed", "bitbucket_server"],
      url: [hostUrl(), hostUrl()],
      apiUrl: [hostUrl(), hostUrl()],
    }),
    elsewhere: { url: ({ host }) => (host as { url: string }).url },
    lengthen: { url: longUrl, apiUrl: longUrl },
    command: {
      noun: "repository-connection",
      owner: ofAcme,
      key: ["--host", "host"],
      plural: "repository_connections",
    },
    examples: {
      creates: [
        [
          "A host of one's own",
          {
            type: "gitlab_self_managed",
            url: "https://gitlab.example.com",
            token: "correct-horse-battery-staple",
            webhook_allowed_addresses: ["192.0.2.0/24"],
          },
        ],
        ["A host that is connected already", { type: "gitea", url: "https://gitlab.example.com" }],
      ],
      changes: [
        ["No commit statuses", { publish_statuses: false }],
        ["Another token", { token: "Tr0ub4dor-3" }],
      ],
    },
  },
];
