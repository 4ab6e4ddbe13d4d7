import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { lockOrganization } from "../accounts/organization-store.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns, newColumns } from "../members/rows.ts";
import { wakeReceivers } from "../outbox/wake-store.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { providerIds, providers } from "../sources/providers.ts";
import { later } from "../tasks/store.ts";
import { forgetConnected } from "./connected.ts";
import { type ConnectionChange, connectionMembers, type NewConnection } from "./members.ts";
import { receiversOf } from "./receivers.ts";
import {
  type Connection,
  countConnections,
  deleteConnectionIfPresent,
  findConnection,
  findConnectionOfHost,
  insertConnection,
  lockConnection,
  updateConnection as updateConnectionRow,
} from "./store.ts";
import { type ConnectionType, connectionFacts } from "./types.ts";

type Columns = Omit<typeof connectionMembers, "token">;

/**
 * Creates a connection of an organization to a source host.
 * @throws Refusal 422
 */
export async function createConnection(
  services: Services,
  actor: Actor,
  { token = null, ...input }: NewConnection,
): Promise<Connection> {
  const organizationId = actor.organization.id;
  const created = await services.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    const problems = [
      ...(await newConnectionProblems(tx, actor, input)),
      ...(await roomProblems(services.config, stored.connections, (limit) =>
        countConnections(tx, organizationId, limit),
      )),
    ];
    if (problems.length > 0) throw validationFailed(...problems);
    const { now } = tx;
    const id = newId(now);
    const url = input.url ?? connectionFacts[input.type].url ?? "";
    const connection: Connection = {
      ...newColumns<Connection, keyof Columns>(connectionMembers, input),
      id,
      organizationId,
      url,
      host: hostNameOf(url),
      tokenSealed: sealToken(services, id, token),
      failingSince: null,
      restsUntil: null,
      failureMailedAt: null,
      createdAt: now,
      createdById: actor.userId,
      updatedAt: now,
      updatedById: actor.userId,
    };
    await insertConnection(tx, connection);
    await later(tx, "providers", organizationId, [organizationId]);
    await audit(tx, actor, "created", auditSubject(connection));
    return connection;
  });
  forgetConnected(organizationId);
  return created;
}

/** The reasons why the organization does not allow the members of a new connection. */
export async function newConnectionProblems(
  db: Db | Tx,
  { organization }: Actor,
  { type, url }: Partial<Pick<NewConnection, "type" | "url">>,
): Promise<Problem[]> {
  if (type === undefined) return [];
  const address = url ?? connectionFacts[type].url;
  if (address === undefined) return [{ field: "url", message: "URL can't be blank" }];
  return urlProblems(db, { organizationId: organization.id, type }, address);
}

/**
 * Changes the given members of a connection.
 * @throws Refusal 404, 422
 */
export async function updateConnection(
  services: Services,
  actor: Actor,
  connection: Connection,
  { token, ...change }: ConnectionChange,
): Promise<Connection> {
  const { id } = connection;
  const updated = await services.db.transaction(async (tx) => {
    // Receivers before their connection, as those who send lock them.
    if (token !== undefined) await wakeReceivers(tx, connection, receiversOf(id));
    const before = await lockConnection(tx, id);
    if (!before) throw notFound("repository connection");
    const problems = await connectionChangeProblems(tx, before, change);
    if (problems.length > 0) throw validationFailed(...problems);
    const columns: Partial<Connection> = {
      ...changedColumns<Connection>(change),
      ...(change.url && { host: hostNameOf(change.url) }),
      // A host that refused its token may take another one.
      ...(token !== undefined && {
        tokenSealed: sealToken(services, id, token),
        failingSince: null,
        restsUntil: null,
      }),
      updatedAt: tx.now,
      updatedById: actor.userId,
    };
    await updateConnectionRow(tx, id, columns);
    const after = { ...before, ...columns };
    const { organizationId } = before;
    if (after.host !== before.host) await later(tx, "providers", organizationId, [organizationId]);
    const changes = changesOf({ before, after, ...auditedColumns<Connection>(connectionMembers) });
    if (token !== undefined) changes.push({ field: "token" });
    await audit(tx, actor, "updated", auditSubject(after), changes);
    return after;
  });
  forgetConnected(updated.organizationId);
  return updated;
}

/** The reasons why a connection does not allow a change. */
export async function connectionChangeProblems(
  db: Db | Tx,
  connection: Connection,
  { url }: Pick<ConnectionChange, "url">,
): Promise<Problem[]> {
  if (url === undefined) return [];
  if (url === null) return [{ field: "url", message: "URL can't be blank" }];
  return urlProblems(db, connection, url);
}

/** Deletes a connection. @throws Refusal 404 */
export async function deleteConnection(services: Services, actor: Actor, { id }: Connection): Promise<void> {
  const deleted = await services.db.transaction(async (tx) => {
    const row = await deleteConnectionIfPresent(tx, id);
    if (!row) throw notFound("repository connection");
    await later(tx, "providers", row.organizationId, [row.organizationId]);
    await audit(tx, actor, "deleted", auditSubject(row));
    return row;
  });
  forgetConnected(deleted.organizationId);
}

/** @throws Refusal 404 */
export async function requireConnection(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Connection> {
  const found = isId(id) ? await findConnection(db, organizationId, id) : undefined;
  if (!found) throw notFound("repository connection");
  return found;
}

async function urlProblems(
  db: Db | Tx,
  { id, organizationId, type }: Pick<Connection, "organizationId" | "type"> & { id?: string },
  url: string,
): Promise<Problem[]> {
  const host = hostNameOf(url);
  const problem = findTypeProblem(type as ConnectionType, host);
  if (problem !== undefined) return [{ field: "url", message: problem }];
  const other = await findConnectionOfHost(db, organizationId, host);
  return other && other.id !== id ? [{ field: "url", message: "URL has already been taken" }] : [];
}

/** The host of `github` is github.com, and other types have none that is public. */
function findTypeProblem(type: ConnectionType, host: string): string | undefined {
  const { url, provider } = connectionFacts[type];
  if (url !== undefined) return hostNameOf(url) === host ? undefined : `URL must be ${url} for this type`;
  const owner = providerIds.find((id) => providers[id].host === host);
  return owner === undefined || owner === provider ? undefined : `URL is that of the type ${owner}`;
}

function hostNameOf(url: string): string {
  return new URL(url).hostname.toLowerCase();
}

function sealToken({ cipher }: Services, id: string, token: string | null): string | null {
  return token === null ? null : cipher.seal(token, sealedPlaces.tokenOfConnection(id));
}

function auditSubject({ id, host }: Connection) {
  return { type: "repository_connection", id, name: host } as const;
}
