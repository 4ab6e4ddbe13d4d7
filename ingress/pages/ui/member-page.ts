import type { EventHandler, HTTPResponse } from "h3";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { findMembership, listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound, Refusal } from "../../../shared/refusal.ts";
import { nameOwner } from "../../../shared/sharing/owner.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import type { Bodies } from "../../http/body.ts";
import { pathParameter } from "../../http/routing.ts";
import {
  type FormOptions,
  type FormResult,
  type PageContent,
  type SignedInRequest,
  signedInAction,
  signedInPage,
} from "./page.ts";
import { pageContextOf } from "./page-context.ts";

/** Organizations in the switch. */
const maxSwitched = 50;

export interface MemberRequest extends SignedInRequest {
  organization: Organization;
  role: Role;
  actor: Actor;
  /** A decoded parameter of the path, or empty. */
  parameter(name: string): string;
}

/** A page for members of its organization; 404 for others. */
export function memberPage(
  services: Services,
  show: (request: MemberRequest) => Promise<PageContent | HTTPResponse>,
): EventHandler {
  return signedInPage(services, async (signedIn) => show(await requireMember(services, signedIn)));
}

/** A form for members. */
export function memberAction(
  services: Services,
  bodies: Bodies,
  run: (request: MemberRequest, form: URLSearchParams) => Promise<FormResult>,
  options?: FormOptions,
): EventHandler {
  return signedInAction(
    services,
    bodies,
    async (signedIn, form) => run(await requireMember(services, signedIn), form),
    options,
  );
}

/** A form for admins. */
export function adminAction(
  services: Services,
  bodies: Bodies,
  run: (request: MemberRequest, form: URLSearchParams) => Promise<FormResult>,
): EventHandler {
  return memberAction(services, bodies, async (request, form) => {
    requireAdmin(request);
    return run(request, form);
  });
}

/** @throws Refusal 403 */
export function requireAdmin({ role, event }: Pick<MemberRequest, "role" | "event">): void {
  if (role === "admin") return;
  const permission = event.req.method === "POST" ? "may do this" : "can see this page";
  throw new Refusal(403, `Only admins of the organization ${permission}.`);
}

async function requireMember({ db }: Services, request: SignedInRequest): Promise<MemberRequest> {
  const parameter = (name: string) => pathParameter(request.event, name) ?? "";
  const slug = parameter("org");
  const membership = slug.includes("\0") ? undefined : await findMembership(db, slug, request.user.id);
  if (!membership) throw notFound("organization");
  nameOwner(membership.organization.id);
  const memberships = await listMemberships(db, request.user.id, maxSwitched);
  Object.assign(pageContextOf(request.event), { membership, memberships });
  const actor = { organization: membership.organization, userId: request.user.id };
  return { ...request, ...membership, actor, parameter };
}
