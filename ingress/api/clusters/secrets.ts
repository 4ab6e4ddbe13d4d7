import { z } from "zod";
import { storageFull } from "../../../shared/accounts/storage.ts";
import { requireCluster } from "../../../shared/clusters/clusters.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { newSecret, secretChange, secretMembers, secretValue } from "../../../shared/secrets/members.ts";
import {
  createSecret,
  deleteSecret,
  replaceSecretValue,
  requireSecret,
  updateSecret,
} from "../../../shared/secrets/secrets.ts";
import { type ListedSecret, listSecretsPage } from "../../../shared/secrets/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api, web } from "../../../shared/settings/urls.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { answerOf, created, declared, identified, updated } from "../resources/answer.ts";
import { resourceOperations } from "../resources/operations.ts";

const secretAnswer = answerOf<ListedSecret>("Secret", {
  ...identified("Secret"),
  ...declared(secretMembers),
  url: [
    field.url,
    ({ id, clusterId }, { config, org }) => api.secret(config, { org, cluster: clusterId, secret: id }),
  ],
  cluster_url: [field.url, ({ clusterId }, { config, org }) => api.cluster(config, org, clusterId)],
  ...created,
  ...updated,
  last_read_at: [
    field.timestamp.nullable().meta({ description: "Stored once an hour at most" }),
    ({ lastReadAt }) => lastReadAt,
  ],
  organization: [
    z.object({ id: field.id, slug: z.string(), url: field.url, web_url: field.url }),
    (_, { config, org, organization: { id } }) => ({
      id,
      slug: org,
      url: api.organization(config, org),
      web_url: web.organization(config, org),
    }),
  ],
});

/** The secrets of a cluster. No answer has a value. */
export function secretOperations(services: Services): Operation[] {
  const { db } = services;
  const { operations, writing, find, presentOne } = resourceOperations(services, {
    tag: "Clusters",
    scopes: { reading: "read_secrets_details", writing: "write_secrets" },
    paths: { list: patterns.secrets, one: patterns.secret },
    json: secretAnswer,
    ownerOf: ({ caller, parameter }) => requireCluster(db, caller.organization.id, parameter("cluster")),
    find: (cluster, { parameter }): Promise<ListedSecret> => requireSecret(db, cluster, parameter("secret")),
    list: {
      id: "listClusterSecrets",
      summary: "The secrets of a cluster without their values, oldest first",
      answer: "A page of secrets",
      read: ({ id }, page) => listSecretsPage(db, id, page),
    },
    create: {
      id: "createClusterSecret",
      summary: "Create a secret that jobs of the cluster may read",
      answer: "The new secret, without its value",
      refusals: ["Validation failed: …", storageFull],
      body: newSecret,
      run: async ({ actor, readBody }, cluster) => createSecret(services, actor, cluster, await readBody()),
    },
    get: { id: "getClusterSecret", summary: "A secret, without its value", answer: "The secret" },
    update: {
      id: "updateClusterSecret",
      summary: "Change a secret's description and policy",
      answer: "The changed secret",
      body: secretChange,
      run: async ({ actor, readBody }, secret) => updateSecret(services, actor, secret, await readBody()),
    },
    delete: {
      id: "deleteClusterSecret",
      summary: "Delete a secret; jobs that have read it keep its value",
      answer: "No job can read the secret",
      run: ({ actor }, secret) => deleteSecret(services, actor, secret),
    },
  });

  return [
    ...operations,
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.secretValue,
      id: "replaceClusterSecretValue",
      summary: "Replace a secret's value",
      body: { schema: z.object({ value: secretValue }) },
      success: { status: 200, schema: secretAnswer.schema, description: "The secret, without its value" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const secret = await find(call);
        const { value } = await call.readBody();
        return presentOne(call, await replaceSecretValue(services, call.actor, secret, value));
      },
    }),
  ];
}
