import {
  connectionChangeProblems,
  createConnection,
  deleteConnection,
  newConnectionProblems,
  requireConnection,
  updateConnection,
} from "../../../shared/connections/connections.ts";
import { connectionChange, connectionMembers, newConnection } from "../../../shared/connections/members.ts";
import { listConnectionsPage } from "../../../shared/connections/store.ts";
import { readSound } from "../../../shared/members/bodies.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Operation } from "../../operations/operation.ts";
import { resourceOperations } from "../resources/operations.ts";
import { connectionSchema, presentConnection } from "./json.ts";

/** The connections of an organization to source hosts. No answer has a token. */
export function connectionOperations(services: Services): Operation[] {
  const { db, config } = services;
  return resourceOperations(services, {
    tag: "Repository connections",
    scopes: {
      reading: "read_organization_repository_connections",
      writing: "write_organization_repository_connections",
    },
    isForAdmins: true,
    paths: { list: patterns.connections, one: patterns.connection },
    schema: connectionSchema,
    ownerOf: async ({ caller }) => caller.organization,
    find: ({ id }, { parameter }) => requireConnection(db, id, parameter("connection")),
    userIdsOf: ({ createdById, updatedById }) => [createdById, updatedById],
    present: (connection, organization, users) => presentConnection(config, organization, connection, users),
    list: {
      id: "listRepositoryConnections",
      summary: "The source hosts of an organization, oldest first",
      answer: "A page of repository connections",
      read: ({ id }, page) => listConnectionsPage(db, { organizationId: id }, page),
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
