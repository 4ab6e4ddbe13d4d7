import type { H3Event } from "h3";
import proxyAddr from "proxy-addr";
import { nodeRequest } from "./node.ts";

const maxUserAgentLength = 500;

/** Reads the address of the client. Trusts `X-Forwarded-For` of these proxies only. */
export function clientAddress(trustedProxies: string[]): (event: H3Event) => string {
  const trust = proxyAddr.compile(trustedProxies);
  return (event) => {
    const request = nodeRequest(event);
    const address = trustedProxies.length === 0 ? request.socket.remoteAddress : proxyAddr(request, trust);
    // A socket for both families shows IPv4 addresses as IPv6 ones.
    return address?.startsWith("::") ? address.replace(/^::ffff:(?=\d+\.)/i, "") : (address ?? "");
  };
}

/** Returns the address that `requestHooks` stored. */
export function clientIp(event: H3Event): string {
  return (event.context.clientIp as string | undefined) ?? "";
}

/** Returns the start of the User-Agent header. */
export function userAgent(event: H3Event): string | null {
  return event.req.headers.get("user-agent")?.slice(0, maxUserAgentLength) ?? null;
}
