import type { Db, Tx } from "../db/database.ts";
import type { Services } from "../services/services.ts";
import type { ProviderId } from "../sources/providers.ts";
import { findConnectionOfHost, listHosts } from "./store.ts";

/** The providers of an organization's own hosts, by host name in lower case. */
export type Connected = ReadonlyMap<string, ProviderId>;

const providerOfType: Record<string, ProviderId> = {
  github: "github",
  github_enterprise: "github_enterprise",
  gitlab: "gitlab",
  gitlab_self_managed: "gitlab_ee",
  gitea: "gitea",
  bitbucket: "bitbucket",
  bitbucket_server: "bitbucket_server",
};

export function connectedProviders({ db }: Pick<Services, "db">, organizationId: string): Promise<Connected> {
  return connectedProvidersIn(db, organizationId);
}

/** Reads the rows, also inside a transaction. */
export async function connectedProvidersIn(db: Db | Tx, organizationId: string): Promise<Connected> {
  const hosts = await listHosts(db, organizationId);
  return new Map(
    hosts.flatMap(({ host, type }) => {
      const provider = providerOfType[type];
      return provider ? [[host, provider] as const] : [];
    }),
  );
}

/** The networks that may send webhooks of a host. Null: all. */
export async function allowedAddressesOf(
  db: Db,
  organizationId: string,
  host: string,
): Promise<string[] | null> {
  const connection = await findConnectionOfHost(db, organizationId, host);
  return connection?.webhookAllowedAddresses ?? null;
}
