import type { H3Event } from "h3";
import type { TokenHolder } from "../../shared/accounts/access-token-store.ts";
import { authenticate } from "../../shared/accounts/access-tokens.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import { notFound, Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { loopTurn } from "../../shared/sharing/resources.ts";
import { clientIp, userAgent } from "../http/client-address.ts";
import { limitApiRequests } from "../http/limits/limits.ts";
import { pathParameter } from "../http/routing.ts";
import type { Callers, Needs } from "./callers.ts";

/**
 * Authenticates the caller of a REST endpoint. Checks token, rate limit, organization, scope, role, in this order.
 * @throws Refusal 401, 429, 404, 403
 */
export async function requireCaller(
  services: Services,
  event: H3Event,
  { scope, needsAdmin }: Needs,
): Promise<Callers["accessToken"]> {
  const caller = await requireTokenHolder(services, event);
  await limitApiRequests(services, event, caller.token.id);
  await loopTurn(caller.organization.id);
  const org = pathParameter(event, "org");
  if (org !== undefined && org !== caller.organization.slug) throw notFound("organization");
  if (scope) requireScope(services, caller, scope);
  if (needsAdmin && caller.role !== "admin") throw new Refusal(403, "Forbidden");
  const { organization, user, token } = caller;
  const actor = { organization, userId: user.id, token: token.description };
  return { caller, actor, organizationId: organization.id };
}

/**
 * Counts a request against the limit of its access token, if it has one: an answer that needs no authentication
 * shows the limit too.
 * @throws Refusal 429
 */
export async function limitTokenHolder(services: Services, event: H3Event): Promise<void> {
  const token = bearerToken(event);
  const holder = token && (await authenticate(services, token));
  if (holder) await limitApiRequests(services, event, holder.token.id);
}

async function requireTokenHolder(services: Services, event: H3Event): Promise<TokenHolder> {
  const token = bearerToken(event);
  if (!token) throw unauthenticated(services, "");
  const holder = await authenticate(services, token);
  if (!holder) throw unauthenticated(services, ', error="invalid_token"');
  services.usage.record(holder.token.id, {
    at: services.clock.now(),
    ip: clientIp(event),
    userAgent: userAgent(event),
  });
  return holder;
}

function bearerToken(event: H3Event): string | undefined {
  return /^Bearer +(\S+)$/i.exec(event.req.headers.get("authorization") ?? "")?.[1];
}

function requireScope(services: Services, caller: TokenHolder, scope: Scope): void {
  if (caller.token.scopes.includes(scope)) return;
  throw new Refusal(403, `Your access token doesn't have the ${scope} scope`, {
    headers: challenge(services, `, error="insufficient_scope", scope="${scope}"`),
  });
}

function unauthenticated(services: Services, details: string): Refusal {
  return new Refusal(401, "Authentication required. Please supply a valid API Access Token", {
    headers: challenge(services, details),
  });
}

function challenge({ config }: Services, details: string): Record<string, string> {
  return { "WWW-Authenticate": `Bearer realm="${config.serviceName}"${details}` };
}
