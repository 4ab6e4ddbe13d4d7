import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import type { CallerNetworks } from "../../shared/sharing/shares.ts";

/** Returns an IPv4 address itself, and the /64 network of an IPv6 address, whose owner has all of it. */
export function networkOf(ip: string): string {
  return ip.includes(":") && isIPv6(ip) ? prefixOf(ip, 64) : ip;
}

/** Returns the /24 of an IPv4 address, and the /48 of an IPv6 address: a site, or one customer of a hoster. */
export function wideNetworkOf(ip: string): string {
  if (ip.includes(":") && isIPv6(ip)) return prefixOf(ip, 48);
  return isIPv4(ip) ? `${ip.slice(0, ip.lastIndexOf("."))}.0/24` : ip;
}

export function networksOf(ip: string): CallerNetworks {
  return { network: networkOf(ip), wideNetwork: wideNetworkOf(ip) };
}

function prefixOf(ip: string, bits: 48 | 64): string {
  const { parts } = ipaddr.IPv6.parse(ip.replace(/%.*$/, "")); // the parser refuses some zones
  const network = parts.slice(0, bits / 16).map((part) => part.toString(16));
  return `${network.join(":")}::/${bits}`;
}

/** @param networks CIDR ranges, and single addresses */
export function isInNetworks(networks: readonly string[], ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return networks.some((network) => {
    if (!ipaddr.isValidCIDR(network))
      return ipaddr.isValid(network) && isSame(ipaddr.process(network), address);
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base, bits);
  });
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function isSame(one: Address, other: Address): boolean {
  return one.toNormalizedString() === other.toNormalizedString();
}
