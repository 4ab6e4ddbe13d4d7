import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import { createAgentToken } from "../../shared/agents/tokens.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { listClusters } from "../../shared/clusters/store.ts";
import { createConnection } from "../../shared/connections/connections.ts";
import { newConnection } from "../../shared/connections/members.ts";
import { newId } from "../../shared/ids.ts";
import { newNotificationService } from "../../shared/notifications/members.ts";
import { createNotificationService } from "../../shared/notifications/notification-services.ts";
import { createPipeline, defaultStep } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { Refusal } from "../../shared/refusal.ts";
import { createSecret } from "../../shared/secrets/secrets.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Config } from "../../shared/settings/config.ts";
import { unique } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { type QueuePages, startQueuePages } from "../helpers/pages.ts";

/** A thing whose number is bounded. There is one of it before the tests. */
interface Thing {
  limit: keyof Config;
  /** The refusal at a limit of 3. */
  message: string;
  create: (services: Services, pages: QueuePages) => Promise<unknown>;
  /** Below the organization. */
  rest?: (pages: QueuePages) => [path: string, body: object];
  page?: (pages: QueuePages) => [path: string, fields: Record<string, string>];
}

const steps = [defaultStep];
let nextCluster = 0;

const things: Record<string, Thing> = {
  clusters: {
    limit: "clustersPerOrganization",
    message:
      "Organization has reached its limit of 3 clusters: delete one, or ask the operator to raise CLUSTERS_PER_ORGANIZATION",
    create: (services, { actor }) => createCluster(services, actor, { name: unique("Cluster") }),
    rest: () => ["/clusters", { name: unique("Cluster") }],
    page: ({ paths }) => [paths.clusters, { name: unique("Cluster"), description: "" }],
  },
  pipelines: {
    limit: "pipelinesPerOrganization",
    message:
      "Organization has reached its limit of 3 pipelines: delete one, or ask the operator to raise PIPELINES_PER_ORGANIZATION",
    // In several clusters: each locks its own.
    create: async (services, { actor, acme }) => {
      const clusters = await listClusters(services.db, acme.id);
      const clusterId = clusters[nextCluster++ % clusters.length]?.id ?? "";
      return createPipeline(services, actor, { name: unique("Pipeline"), clusterId, steps: [] });
    },
    rest: ({ acme }) => ["/pipelines", { name: unique("Pipeline"), cluster_id: acme.cluster.id, steps }],
    page: ({ acme }) => [
      "/organizations/acme/new-pipeline",
      {
        name: unique("Pipeline"),
        slug: "",
        cluster: acme.cluster.id,
        branch: "main",
        steps: JSON.stringify(steps),
      },
    ],
  },
  queues: {
    limit: "queuesPerCluster",
    message: "Cluster has reached its limit of 3 queues",
    create: (services, { actor, acme }) =>
      createQueue(services, actor, acme.cluster, { key: unique("queue") }),
    rest: ({ acme }) => [`/clusters/${acme.cluster.id}/queues`, { key: unique("queue") }],
    page: ({ paths }) => [`${paths.cluster}/queues/new`, { key: unique("queue") }],
  },
  "access tokens": {
    limit: "accessTokensPerMember",
    message:
      "Member has reached their limit of 3 API access tokens in this organization: revoke one, or ask the operator to raise ACCESS_TOKENS_PER_MEMBER",
    create: (services, { acme, ada }) =>
      createAccessToken(services, {
        email: ada.email,
        organization: acme.slug,
        description: "",
        scopes: ["write_clusters", "write_pipelines"],
      }),
    page: ({ acme }) => [
      "/user/api-access-tokens/new",
      { id: newId(new Date()), description: "Another", organization: acme.id, scopes: "read_user" },
    ],
  },
  "registration tokens": {
    limit: "registrationTokensPerCluster",
    message:
      "Cluster has reached its limit of 3 registration tokens: revoke one, or ask the operator to raise REGISTRATION_TOKENS_PER_CLUSTER",
    create: (services, { actor, acme }) =>
      createAgentToken(services, actor, acme.cluster, { description: "", queueId: null, expiresAt: null }),
    rest: ({ acme }) => [`/clusters/${acme.cluster.id}/tokens`, { description: "Another" }],
    page: ({ paths }) => [`${paths.cluster}/tokens`, { description: "Another", queue: "", days: "" }],
  },
  secrets: {
    limit: "secretsPerCluster",
    message:
      "Cluster has reached its limit of 3 secrets: delete one, or ask the operator to raise SECRETS_PER_CLUSTER",
    create: (services, { actor, acme }) => createSecret(services, actor, acme.cluster, secret()),
    rest: ({ acme }) => [`/clusters/${acme.cluster.id}/secrets`, secret()],
  },
  "repository connections": {
    limit: "connectionsPerOrganization",
    message:
      "Organization has reached its limit of 3 repository connections: delete one, or ask the operator to raise REPOSITORY_CONNECTIONS_PER_ORGANIZATION",
    create: (services, { actor }) => createConnection(services, actor, newConnection.parse(sourceHost())),
    rest: () => ["/repository_connections", sourceHost()],
    page: ({ paths }) => [`${paths.connections}/new`, sourceHost()],
  },
  "notification services": {
    limit: "notificationServicesPerOrganization",
    message:
      "Organization has reached its limit of 3 notification services: delete one, or ask the operator to raise NOTIFICATION_SERVICES_PER_ORGANIZATION",
    create: (services, { actor }) =>
      createNotificationService(services, actor, newNotificationService.parse(hook)),
    rest: () => ["/services", hook],
    page: () => [
      "/organizations/acme/services/new",
      { provider: "webhook", scope: "all", token_mode: "token", event: "ping", ...hook.settings },
    ],
  },
};

const hook = { provider: "webhook", settings: { url: "https://example.com/hook" } };

let nextHost = 0;

function sourceHost() {
  return { type: "gitea", url: `https://git-${++nextHost}.example.com` };
}

let nextSecret = 0;

function secret() {
  return { key: `KEY_${++nextSecret}`, value: "x", description: null, policy: null };
}

const settings = {
  ACCESS_TOKENS_PER_MEMBER: "3",
  REGISTRATION_TOKENS_PER_CLUSTER: "3",
  SECRETS_PER_CLUSTER: "3",
  REPOSITORY_CONNECTIONS_PER_ORGANIZATION: "3",
  NOTIFICATION_SERVICES_PER_ORGANIZATION: "3",
  PIPELINES_PER_ORGANIZATION: "3",
  CLUSTERS_PER_ORGANIZATION: "3",
  QUEUES_PER_CLUSTER: "3",
};

describeWorld("the limit of", withSettings(startQueuePages, settings), (pages) => {
  let second: Services;
  let token: string;

  before(async () => {
    second = (await pages.another()).services;
    const scopes = [
      ...["write_clusters", "write_pipelines", "write_secrets"],
      ...["write_organization_repository_connections", "write_notification_services"],
    ];
    const of = { email: pages.ada.email, organization: "acme", description: "" };
    for (const name of ["registration tokens", "secrets", "repository connections", "notification services"])
      await things[name]?.create(second, pages);
    ({ token } = await createAccessToken(pages.services, { ...of, scopes }));
  });

  const refusalOf = async (creating: Promise<unknown>) => {
    const refusal = await creating.then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(refusal instanceof Refusal, String(refusal));
    return [refusal.status, refusal.message.replace("Validation failed: ", "")];
  };

  for (const [name, { limit, message, create, rest, page }] of Object.entries(things))
    describe(name, () => {
      it("is kept by creates that race in two processes", async () => {
        const racing = Array.from({ length: 8 }, (_, index) =>
          create(index % 2 ? second : pages.services, pages),
        );

        const made = (await Promise.allSettled(racing)).filter(({ status }) => status === "fulfilled");

        assert.equal(made.length, 2);
        for (const creating of racing)
          await creating.catch(async () => assert.deepEqual(await refusalOf(creating), [422, message]));
      });

      it("keeps what is beyond it, and refuses another", async () => {
        const { services } = pages;
        const lower = { ...services, config: { ...services.config, [limit]: 2 } };

        assert.deepEqual(await refusalOf(create(lower, pages)), [422, message.replace("3", "2")]);

        const higher = { ...services, config: { ...services.config, [limit]: 4 } };
        await create(higher, pages); // the three are there
        assert.deepEqual(await refusalOf(create(higher, pages)), [422, message.replace("3", "4")]);
      });

      if (rest)
        it("is a 422 of REST", async () => {
          const [path, body] = rest(pages);

          const answer = await request(`${pages.url}/v2/organizations/acme${path}`, {
            method: "POST",
            body: JSON.stringify(body),
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          });

          assert.deepEqual([answer.status, answer.body.message], [422, `Validation failed: ${message}`]);
        });

      if (page)
        it("is a problem of the form", async () => {
          const [path, fields] = page(pages);
          const ada = await pages.visitor(pages.ada);
          await ada.get(pages.paths.pipelines);

          const { status, text } = await ada.post(path, fields);

          assert.deepEqual([status, text.includes(`${message}.`)], [422, true], text);
        });
    });
});
