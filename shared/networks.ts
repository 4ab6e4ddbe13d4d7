import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** Its first address, and how many bits all of its addresses share. */
export type Network = readonly [Address, number];

/** Says if a text is a CIDR range, such as `10.0.0.0/8`, or one address. */
export function isNetwork(text: string): boolean {
  return isIP(text) !== 0 || (/^[\d.]+\/|:/.test(text) && ipaddr.isValidCIDR(text));
}

/** @param text for which `isNetwork` holds */
export function parseNetwork(text: string): Network {
  return isIP(text) === 0 ? ipaddr.parseCIDR(text) : [parseAddress(text), isIPv6(text) ? 128 : 32];
}

/** @param text for which `isIP` holds */
export function parseAddress(text: string): Address {
  return ipaddr.parse(text.replace(/%.*$/, "")); // the parser refuses some zones
}

export function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([start, bits]) => address.kind() === start.kind() && address.match(start, bits));
}
