import { type Address, isWithin, type Network, parseAddress, parseNetwork } from "../networks.ts";

/** The only addresses of IPv6 that are global unicast. Some forms beside it hold an address of IPv4. */
const globalUnicast = [parseNetwork("2000::/3")];

/** Says if a request may go to an address, by its numbers: it is global unicast, or the operator opened its network. */
export function mayReach(text: string, allowed: readonly Network[]): boolean {
  const address = parseAddress(text);
  return isGlobalUnicast(address) || isWithin(address, allowed);
}

function isGlobalUnicast(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || isWithin(address, globalUnicast));
}
