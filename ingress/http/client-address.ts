import { isIPv6 } from "node:net";
import type { H3Event } from "h3";
import proxyAddr from "proxy-addr";
import { nodeRequest } from "./node.ts";

export type ClientAddress = (event: H3Event) => string;

/** The address that a request comes from; `X-Forwarded-For` is believed only of trusted proxies. */
export function clientAddress(trustedProxies: string[]): ClientAddress {
  const trust = proxyAddr.compile(trustedProxies);
  return (event) => {
    const request = nodeRequest(event);
    const address = trustedProxies.length === 0 ? request.socket.remoteAddress : proxyAddr(request, trust);
    // A socket for both families shows IPv4 addresses as IPv6 ones.
    return (address ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
  };
}

/** The address that the request in hand comes from, as `requestHooks` found it. */
export function clientIp(event: H3Event): string {
  return (event.context.clientIp as string | undefined) ?? "";
}

const maxUserAgentLength = 500;

/** What the client calls itself; cut short, because it is kept and shown. */
export function userAgent(event: H3Event): string | null {
  return event.req.headers.get("user-agent")?.slice(0, maxUserAgentLength) ?? null;
}

/**
 * What limits count by: an IPv4 address, but the first 64 bits of an IPv6 address, since whoever has one has all
 * 2^64 of its network.
 */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const [head = "", tail] = ip.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? [] : Array(8 - before.length - after.length).fill("0");
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16));
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`;
}
