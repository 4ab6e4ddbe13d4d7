import { isIP } from "node:net";
import type { H3Event } from "h3";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";
import { nodeRequest } from "./node.ts";

const maxUserAgentLength = 500;

/** Reads the address of the client. Trusts `X-Forwarded-For` of these proxies only. */
export function clientAddress(trustedProxies: string[]): (event: H3Event) => string {
  const isTrusted = proxyAddr.compile(trustedProxies);
  return (event) => {
    const { socket, headers } = nodeRequest(event);
    const peer = withoutMapping(socket.remoteAddress ?? "");
    const forwarded = trustedProxies.length > 0 ? headers["x-forwarded-for"] : undefined;
    return forwarded === undefined ? peer : forwardedAddress(peer, String(forwarded), isTrusted);
  };
}

/**
 * Returns the last address that no trusted proxy has. A trusted proxy may send text for an address: then its own peer is
 * unknown, and the address of the socket must do. Text as an address would open a rate limit for each text.
 */
function forwardedAddress(
  peer: string,
  forwarded: string,
  isTrusted: (address: string, index: number) => boolean,
): string {
  let address = peer;
  for (const [index, entry] of forwarded.split(",").reverse().entries()) {
    if (!isTrusted(address, index)) return address;
    const next = parseAddress(entry.trim());
    if (next === undefined) return peer;
    address = next;
  }
  return address;
}

/** Understands `ip`, `ip:port`, `[v6]` and `[v6]:port`. */
function parseAddress(text: string): string | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = inBrackets ?? beforePort ?? text;
  return isIP(address) === 0 ? undefined : withoutMapping(address);
}

/** A socket for both families shows IPv4 addresses as IPv6 ones. */
export function withoutMapping(address: string): string {
  if (!address.startsWith("::")) return address;
  return ipaddr.process(address.replace(/%.*$/, "")).toString();
}

/** Returns the address that `openRequest` stored. */
export function clientIp(event: H3Event): string {
  return (event.context.clientIp as string | undefined) ?? "";
}

/** Returns the start of the User-Agent header. */
export function userAgent(event: H3Event): string | null {
  return event.req.headers.get("user-agent")?.slice(0, maxUserAgentLength) ?? null;
}
