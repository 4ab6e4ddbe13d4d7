import type { H3Event } from "h3";
import type { listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import { findSignedInVisitor, type Visitor } from "../../auth/session.ts";

/** Stored on the event, so that an error page has it too. */
export interface PageContext {
  visitor?: Visitor;
  /** Set after the check of membership. */
  membership?: { organization: Organization; role: Role };
  /** Of the organization whose page the visitor saw last: pages of no organization have its head. */
  lastMembership?: { organization: Organization; role: Role };
  /** The visitor's memberships, for the switch of organizations. Set with either. */
  memberships?: Awaited<ReturnType<typeof listMemberships>>;
  /** A sentence for people who are signed in, while a part is away. */
  outage?: string | undefined;
  /** The pages above this one. */
  trail?: Crumb[];
}

export interface Crumb {
  text: string;
  path: string;
  /** A list says nothing about a page, so titles leave it out. */
  isList?: boolean;
}

/** Undefined while the database can be written and Redis is well. */
export function outageOf({ redisState, writeHealth }: Services): string | undefined {
  if (writeHealth.problem())
    return "Nothing can be saved at the moment, and webhooks are refused. Whoever operates this installation finds the reason at /readyz.";
  switch (redisState()) {
    case "ok":
      return undefined;
    case "wrong-eviction-policy":
    case "too-old":
    case "wrong-mode":
    case "wrong-password":
    case "wrong-database":
    case "forbidden":
    case "untrusted":
      return "Redis is set up wrongly, and builds may be late. Whoever operates this installation finds the reason in its log.";
    default:
      return "Redis is away. Webhooks are stored, and their builds start up to a second later.";
  }
}

/** The context of this request. */
export function pageContextOf({ context }: H3Event): PageContext {
  context.page ??= {};
  return context.page as PageContext;
}

/** Adds to the trail, from the outermost. Loaders call it; to load again adds nothing. */
export function addCrumbs(event: H3Event, ...crumbs: Crumb[]): void {
  const context = pageContextOf(event);
  context.trail ??= [];
  for (const crumb of crumbs)
    if (!context.trail.some(({ path }) => path === crumb.path)) context.trail.push(crumb);
}

/** The trail without the page itself. The answer to a form may be a page with another address. */
export function trailAbove(event: H3Event, title: string): Crumb[] {
  const { trail = [] } = pageContextOf(event);
  const isAnswer = event.req.method === "POST" && trail.at(-1)?.text === title;
  return isAnswer ? trail.slice(0, -1) : trail.filter(({ path }) => path !== event.url.pathname);
}

/** Never throws: the first error is the one to show. */
export async function loadErrorPageContext(services: Services, event: H3Event): Promise<PageContext> {
  const context = pageContextOf(event);
  if (context.visitor) return context;
  const visitor = await findSignedInVisitor(services, event).catch(() => undefined);
  return visitor ? { ...context, visitor } : context;
}
