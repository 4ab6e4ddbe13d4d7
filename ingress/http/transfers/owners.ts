import { networkOf, wideNetworkOf } from "../network.ts";

/** Somebody whose transfers share a part of a budget. */
export interface Owner {
  key: string;
  /** The part, from 0 to 1. */
  share: number;
  /** Otherwise it binds only while over half of the budget is used. */
  bindsAlways?: true;
}

/** The use of a budget by one owner. */
export interface Account {
  owner: Owner;
  bytes: number;
  transfers: number;
}

export interface Tenant {
  organizationId?: string;
  /** The id of the trigger that a delivery is for. */
  id?: string;
}

/**
 * Returns the owners of a transfer of this address, which may belong to an organization and a trigger. Anybody may
 * know the URL of a trigger, so its share always binds, and leaves room for the others of its organization.
 */
export function ownersOf(ip: string, tenant: Tenant = {}): Owner[] {
  const { organizationId, id } = tenant;
  const owners: Owner[] = [
    { key: `network ${networkOf(ip)}`, share: 1 / 8 },
    { key: `wide network ${wideNetworkOf(ip)}`, share: 1 / 4 },
  ];
  if (organizationId) owners.push({ key: `organization ${organizationId}`, share: 3 / 8 });
  if (id) owners.push({ key: `trigger ${id}`, share: 1 / 4, bindsAlways: true });
  return owners;
}
