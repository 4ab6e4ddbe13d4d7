import type { Db, Tx } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import { forgetHearers } from "../news/hearers.ts";
import type { Services } from "../services/services.ts";
import { rememberRecent } from "../sharing/recent.ts";
import type { ProviderId } from "../sources/providers.ts";
import { type Host, listHosts } from "./store.ts";
import { connectionFacts } from "./types.ts";

/** The providers of an organization's own hosts, by host name in lower case. */
export type Connected = ReadonlyMap<string, ProviderId>;

/** By organization. Another process may have changed them up to a second ago. */
const remembered = rememberRecent<Host[]>(10_000, { ttl: secondMs });

/** Reads them at most once a second. */
export async function connectedProviders(
  { db }: Pick<Services, "db">,
  organizationId: string,
): Promise<Connected> {
  return providersOf(await recall(db, organizationId));
}

/** Reads them from the rows. */
export async function connectedProvidersIn(tx: Db | Tx, organizationId: string): Promise<Connected> {
  return providersOf(await listHosts(tx, organizationId));
}

/** The networks that may send webhooks of a host's repositories. Null: all. Read at most once a second. */
export async function allowedAddressesOf(
  db: Db,
  organizationId: string,
  host: string,
): Promise<string[] | null> {
  const hosts = await recall(db, organizationId);
  return hosts.find((each) => each.host === host)?.webhookAllowedAddresses ?? null;
}

/** Call after a commit that changed them. */
export function forgetConnected(organizationId: string): void {
  remembered.delete(organizationId);
  forgetHearers(organizationId);
}

async function recall(db: Db, organizationId: string): Promise<Host[]> {
  const known = remembered.get(organizationId);
  if (known) return known;
  const hosts = await listHosts(db, organizationId);
  remembered.set(organizationId, hosts);
  return hosts;
}

function providersOf(hosts: Host[]): Connected {
  return new Map(hosts.map(({ host, type }) => [host, connectionFacts[type].provider]));
}
