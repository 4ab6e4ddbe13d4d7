import { z } from "zod";
import {
  connectionChangeProblems,
  createConnection,
  deleteConnection,
  newConnectionProblems,
  requireConnection,
  updateConnection,
} from "../../shared/connections/connections.ts";
import { connectionChange, connectionMembers, newConnection } from "../../shared/connections/members.ts";
import { type Connection, listConnectionsPage } from "../../shared/connections/store.ts";
import { connectionTypes, titleOfConnection } from "../../shared/connections/types.ts";
import { readSound } from "../../shared/members/bodies.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import type { Services } from "../../shared/services/services.ts";
import { api, web } from "../../shared/settings/urls.ts";
import type { Operation } from "../operations/operation.ts";
import { answerOf, created, declared, updated } from "./resources/answer.ts";
import { resourceOperations } from "./resources/operations.ts";

const connectionAnswer = answerOf<Connection>("RepositoryConnection", {
  id: [field.id, ({ id }) => id],
  ...declared(connectionMembers),
  display_name: [z.string(), (connection) => titleOfConnection(connection)],
  url: [field.url, ({ id }, { config, org }) => api.connection(config, org, id)],
  web_url: [field.url, ({ id }, { config, org }) => web.connection(config, org, id)],
  has_token: [z.boolean(), ({ tokenSealed }) => tokenSealed !== null],
  failing_since: [
    field.timestamp.nullable().meta({ description: "The host has refused the token since then" }),
    ({ failingSince }) => failingSince,
  ],
  service_account: [
    z.null().meta({ description: "Always null: the host says for whom a token is" }),
    () => null,
  ],
  host: [
    z.object({
      type: z.enum(connectionTypes),
      url: field.url,
      webhook_allowed_addresses: z.array(z.string()).nullable(),
    }),
    ({ type, url, webhookAllowedAddresses }) => ({
      type,
      url,
      webhook_allowed_addresses: webhookAllowedAddresses,
    }),
  ],
  rate_limit: [z.null().meta({ description: "Always null: not known" }), () => null],
  ...created,
  ...updated,
});

/** The connections of an organization to source hosts. No answer has a token. */
export function connectionOperations(services: Services): Operation[] {
  const { db } = services;
  return resourceOperations(services, {
    tag: "Repository connections",
    scopes: {
      reading: "read_organization_repository_connections",
      writing: "write_organization_repository_connections",
    },
    isForAdmins: true,
    paths: { list: patterns.connections, one: patterns.connection },
    json: connectionAnswer,
    ownerOf: async ({ caller }) => caller.organization,
    find: ({ id }, { parameter }) => requireConnection(db, id, parameter("connection")),
    list: {
      id: "listRepositoryConnections",
      summary: "The source hosts of an organization, oldest first",
      answer: "A page of repository connections",
      read: ({ id }, page) => listConnectionsPage(db, id, page),
    },
    create: {
      id: "createRepositoryConnection",
      summary: "Connect a source host",
      answer: "The new repository connection, without its token",
      body: newConnection,
      run: async ({ actor, readBody }) => {
        const input = await readBody((sound: Record<string, unknown>) =>
          newConnectionProblems(db, actor, readSound(connectionMembers, "create", sound)),
        );
        return createConnection(services, actor, input);
      },
    },
    get: {
      id: "getRepositoryConnection",
      summary: "A repository connection, without its token",
      answer: "The repository connection",
    },
    update: {
      id: "updateRepositoryConnection",
      summary: "Change a repository connection; absent members stay",
      answer: "The changed repository connection",
      body: connectionChange,
      run: async ({ actor, readBody }, connection) => {
        const change = await readBody((sound: Record<string, unknown>) =>
          connectionChangeProblems(db, connection, readSound(connectionMembers, "change", sound)),
        );
        return updateConnection(services, actor, connection, change);
      },
    },
    delete: {
      id: "deleteRepositoryConnection",
      summary: "Delete a repository connection; pushes to its repositories make no builds any more",
      answer: "The repository connection is gone",
      run: ({ actor }, connection) => deleteConnection(services, actor, connection),
    },
  }).operations;
}
