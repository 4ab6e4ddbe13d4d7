import type { H3Event } from "h3";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import { findKnownVisitor, type Visitor } from "../../auth/session.ts";

/** What the frame of a page tells of who asks. It is kept beside the request, so that an error page has it too. */
export interface Frame {
  visitor?: Visitor;
  /** The organization that the request is about, once it is clear that the visitor belongs to it. */
  membership?: { organization: Organization; role: Role };
}

export function frameOf({ context }: H3Event): Frame {
  context.frame ??= {};
  return context.frame as Frame;
}

/** The frame of an error page: whatever goes wrong here, the error that is to be shown stays the same. */
export async function frameOfError(services: Services, event: H3Event): Promise<Frame> {
  const frame = frameOf(event);
  if (frame.visitor) return frame;
  const visitor = await findKnownVisitor(services, event).catch(() => undefined);
  return visitor ? { ...frame, visitor } : frame;
}
