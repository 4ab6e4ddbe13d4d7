import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { storageFull } from "../../../shared/accounts/storage.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { requireCluster } from "../../../shared/clusters/clusters.ts";
import { patterns } from "../../../shared/paths.ts";
import {
  createSecret,
  deleteSecret,
  replaceSecretValue,
  requireSecret,
  updateSecret,
} from "../../../shared/secrets/secrets.ts";
import { type ListedSecret, listSecretsPage } from "../../../shared/secrets/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPage } from "../../http/number-pager.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";
import { createSecretBody, presentSecret, secretSchema, secretValueBody, updateSecretBody } from "./json.ts";

const tag = "Clusters";
const reading = { tag, scope: "read_secrets_details" as const };
const writing = { tag, scope: "write_secrets" as const, needsAdmin: true };

/** The secrets of a cluster. No answer has a value. */
export function secretOperations(services: Services): Operation[] {
  const { db, config } = services;

  const clusterOf = ({ caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireCluster(db, caller.organization.id, parameter("cluster"));
  const secretOf = async (call: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireSecret(db, await clusterOf(call), call.parameter("secret"));
  const present = async (organization: Organization, secrets: ListedSecret[]) => {
    const ids = secrets.flatMap(({ createdById, updatedById }) => [createdById, updatedById]);
    const users = await listUsersById(db, ids);
    return secrets.map((secret) => presentSecret(config, organization, secret, users));
  };
  const presentOne = async (organization: Organization, secret: ListedSecret) =>
    (await present(organization, [secret]))[0];

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.secrets,
      id: "listClusterSecrets",
      summary: "The secrets of a cluster without their values, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(secretSchema), description: "A page of secrets" },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const page = readPage(call.event);
        const list = await listSecretsPage(db, cluster.id, page);
        linkPages(call.event, { ...list, page }, config.baseUrl);
        return present(call.caller.organization, list.rows);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.secrets,
      id: "createClusterSecret",
      summary: "Create a secret that jobs of the cluster may read",
      body: { schema: createSecretBody },
      success: { status: 201, schema: secretSchema, description: "The new secret, without its value" },
      refusals: { 422: ["Validation failed: …", storageFull] },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const secret = await createSecret(services, call.actor, cluster, await call.readBody());
        return presentOne(call.caller.organization, secret);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.secret,
      id: "getClusterSecret",
      summary: "A secret, without its value",
      success: { status: 200, schema: secretSchema, description: "The secret" },
      run: async (call) => presentOne(call.caller.organization, await secretOf(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.secret,
      id: "updateClusterSecret",
      summary: "Change a secret's description and policy",
      body: { schema: updateSecretBody },
      success: { status: 200, schema: secretSchema, description: "The changed secret" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const secret = await secretOf(call);
        const updated = await updateSecret(services, call.actor, secret, await call.readBody());
        return presentOne(call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.secretValue,
      id: "replaceClusterSecretValue",
      summary: "Replace a secret's value",
      body: { schema: secretValueBody },
      success: { status: 200, schema: secretSchema, description: "The secret, without its value" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const secret = await secretOf(call);
        const { value } = await call.readBody();
        const updated = await replaceSecretValue(services, call.actor, secret, value);
        return presentOne(call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.secret,
      id: "deleteClusterSecret",
      summary: "Delete a secret; jobs that have read it keep its value",
      success: { status: 204, description: "No job can read the secret" },
      run: async (call) => deleteSecret(services, call.actor, await secretOf(call)),
    }),
  ];
}
