import type { H3Event } from "h3";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import { findSignedInVisitor, type Visitor } from "../../auth/session.ts";

/** Stored on the event, so that an error page has it too. */
export interface PageContext {
  visitor?: Visitor;
  /** Set after the check of membership. */
  membership?: { organization: Organization; role: Role };
}

/** The context of this request. */
export function pageContextOf({ context }: H3Event): PageContext {
  context.page ??= {};
  return context.page as PageContext;
}

/** Never throws: the first error is the one to show. */
export async function loadErrorPageContext(services: Services, event: H3Event): Promise<PageContext> {
  const context = pageContextOf(event);
  if (context.visitor) return context;
  const visitor = await findSignedInVisitor(services, event).catch(() => undefined);
  return visitor ? { ...context, visitor } : context;
}
