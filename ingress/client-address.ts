import type { H3Event } from "h3";
import proxyAddr from "proxy-addr";
import { nodeRequest } from "./node.ts";

export type ClientAddress = (event: H3Event) => string;

/** The address that a request comes from; `X-Forwarded-For` is believed only of trusted proxies. */
export function clientAddress(trustedProxies: string[]): ClientAddress {
  const trust = proxyAddr.compile(trustedProxies);
  return (event) => {
    const request = nodeRequest(event);
    if (trustedProxies.length === 0) return request.socket.remoteAddress ?? "";
    return proxyAddr(request, trust) ?? "";
  };
}

/** The address that the request in hand comes from, as `requestHooks` found it. */
export function clientIp(event: H3Event): string {
  return (event.context.clientIp as string | undefined) ?? "";
}
