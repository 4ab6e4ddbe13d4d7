import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Tx } from "../db/database.ts";
import type { OutgoingRequest } from "../outgoing/outgoing.ts";
import type { Services } from "../services/services.ts";
import { hostOf, pathOf } from "../sources/providers.ts";
import type { HostApi, HostRequest } from "./hosts/api.ts";
import { hostApis } from "./hosts/apis.ts";
import { type Connection, findConnectionOfHost } from "./store.ts";
import { apiUrlOf, type ConnectionType } from "./types.ts";

/** A repository at its host, and how to call it. */
export interface Target {
  connection: Connection;
  type: ConnectionType;
  api: HostApi;
  /** As the host's paths name it. */
  repository: string;
  /** The request with the token of the connection. */
  requestOf(request: HostRequest): OutgoingRequest;
}

/** A repository of a pipeline. */
export interface OwnedRepository {
  organizationId: string;
  /** Its address. */
  repository: string | null;
}

/** Finds the connection of a repository's host, or the reason why there is none that can be called. */
export async function findTarget(
  { db, cipher }: Pick<Services, "cipher"> & { db: Services["db"] | Tx },
  { organizationId, repository }: OwnedRepository,
): Promise<{ target: Target } | { reason: string }> {
  const host = repository === null ? undefined : hostOf(repository);
  if (repository === null || !host) return { reason: "The pipeline has no repository at a host" };
  const connection = await findConnectionOfHost(db, organizationId, host);
  if (!connection || connection.tokenSealed === null)
    return { reason: `There is no repository connection with a token for ${host}` };
  const target = targetOf(cipher, connection, repository);
  return target ? { target } : { reason: `The address names no repository of ${host}` };
}

/** The same, for commit statuses: a connection may send none. */
export async function findStatusTarget(
  services: Parameters<typeof findTarget>[0],
  repository: OwnedRepository,
): Promise<{ target: Target } | { reason: string }> {
  const found = await findTarget(services, repository);
  if ("reason" in found || found.target.connection.publishStatuses) return found;
  return { reason: `The repository connection of ${found.target.connection.host} sends no statuses` };
}

/** Undefined without a token, and for an address that names no repository of the host. */
function targetOf(cipher: Services["cipher"], connection: Connection, address: string): Target | undefined {
  const { id, tokenSealed } = connection;
  const type = connection.type as ConnectionType;
  const api = hostApis[type];
  const repository = api.repository(pathWithin(connection, address));
  if (tokenSealed === null || repository === undefined) return undefined;
  let headers: Record<string, string> | undefined;
  return {
    connection,
    type,
    api,
    repository,
    requestOf({ method, path, body }) {
      headers ??= api.headers(cipher.open(tokenSealed, sealedPlaces.tokenOfConnection(id)));
      return {
        method,
        url: apiUrlOf(connection) + path,
        headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      };
    },
  };
}

/** The path of a repository, without that of the host's own address, such as `gitlab` of https://example.com/gitlab. */
function pathWithin({ url }: Connection, address: string): string {
  const path = pathOf(address) ?? "";
  const start = new URL(url).pathname.replace(/^\/|\/$/g, "");
  return start !== "" && /^https?:/.test(address) && path.startsWith(`${start}/`)
    ? path.slice(start.length + 1)
    : path;
}
