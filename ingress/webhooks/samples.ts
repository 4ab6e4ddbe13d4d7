import type { H3Event } from "h3";
import { maxQueryCharacters, type RequestParts } from "../../shared/triggers/deliveries/refused-requests.ts";
import { eventHeaders } from "../../shared/triggers/types.ts";
import type { StoredHeader } from "../../shared/vocabulary.ts";
import { clientIp } from "../http/client-address.ts";
import { networkOf } from "../http/network.ts";
import { nodeRequest } from "../http/node.ts";

/** A sender may put a secret anywhere, under any name: only values that help, and are none, are kept. */
const keptHeaders = [
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "expect",
  "host",
  "transfer-encoding",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
  "x-attempt-number",
  "x-forgejo-delivery",
  "x-forgejo-event",
  "x-forgejo-event-type",
  "x-gitea-event-type",
  "x-github-hook-id",
  "x-github-hook-installation-target-id",
  "x-github-hook-installation-target-type",
  "x-gitlab-instance",
  "x-gitlab-webhook-uuid",
  "x-gogs-delivery",
  "x-gogs-event",
  "x-hook-uuid",
];
const notKept = "redacted";
/** More do not fit, as each is kept as `redacted` at least. They are not read. */
const maxParameters = Math.ceil(maxQueryCharacters / `${notKept}&`.length);
const parameterName = /^[\w.:[\]-]{1,64}$/;

/** Keeps all headers and parameters of a refused request, but values only where they hold no secrets. */
export function requestParts(event: H3Event, issueTracker: string, body: Buffer | undefined): RequestParts {
  const kept = new Set([...keptHeaders, ...eventHeaders(issueTracker)]);
  const { rawHeaders } = nodeRequest(event);
  const headers: StoredHeader[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    headers.push([name, kept.has(name.toLowerCase()) ? (rawHeaders[index + 1] as string) : null]);
  }
  return { network: networkOf(clientIp(event)), headers, query: namesOfQuery(event.url.search), body };
}

/**
 * `?page=1&secret` → `page=redacted&redacted`. Without a value, the name may be the secret; `=` may end Base64. Thousands
 * of short parameters would take milliseconds, so the rest is cut off first.
 */
function namesOfQuery(search: string): string {
  const parts = search
    .slice(1, 1 + maxQueryCharacters)
    .split("&")
    .filter(Boolean)
    .slice(0, maxParameters);
  return parts
    .map((part) => {
      const [name = "", value = ""] = [...new URLSearchParams(part)][0] ?? [];
      return /[^=]/.test(value) && parameterName.test(name) ? `${name}=${notKept}` : notKept;
    })
    .join("&");
}
