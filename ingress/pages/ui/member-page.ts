import type { Actor } from "../../../shared/accounts/audit.ts";
import { findMembership, listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { notFound, Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { nameOwner } from "../../../shared/sharing/owner.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import { lastOrganizationOf, rememberOrganization } from "../../auth/session.ts";
import { pathParameter } from "../../http/routing.ts";
import {
  type ActionMaker,
  type FormOptions,
  type PageMaker,
  type PageRequest,
  type PageResult,
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

type Show = (services: Services, request: MemberRequest) => PageResult | Promise<PageResult>;
type Run = (services: Services, request: MemberRequest, form: URLSearchParams) => Promise<PageResult>;

/** A page for members of its organization; 404 for others. */
export function memberPage(show: Show): PageMaker {
  return signedInPage(async (services, signedIn) => show(services, await requireMember(services, signedIn)));
}

/** A page for admins. */
export function adminPage(show: Show): PageMaker {
  return memberPage((services, request) => {
    requireAdmin(request);
    return show(services, request);
  });
}

/** A form for members. */
export function memberAction(run: Run, options?: FormOptions): ActionMaker {
  return signedInAction(
    async (services, signedIn, form) => run(services, await requireMember(services, signedIn), form),
    options,
  );
}

/** A form for admins. */
export function adminAction(run: Run, options?: FormOptions): ActionMaker {
  return memberAction((services, request, form) => {
    requireAdmin(request);
    return run(services, request, form);
  }, options);
}

/** @throws Refusal 403 */
function requireAdmin({ role, event }: Pick<MemberRequest, "role" | "event">): void {
  if (role === "admin") return;
  const permission = event.req.method === "POST" ? "may do this" : "can see this page";
  throw new Refusal(403, `Only admins of the organization ${permission}.`);
}

/** Those of a user that the switch of organizations offers. */
function findMemberships({ db }: Services, { id }: User) {
  return listMemberships(db, id, maxSwitched);
}

/**
 * The organization whose page the visitor saw last, else the first. The page has its head. Undefined for a user of none,
 * and for a guest.
 */
export async function loadLastOrganization(
  services: Services,
  { event, visitor }: PageRequest,
): Promise<Organization | undefined> {
  if (!visitor.user) return undefined;
  const memberships = await findMemberships(services, visitor.user);
  const last = lastOrganizationOf(services, event);
  const lastMembership = memberships.find(({ organization }) => organization.id === last) ?? memberships[0];
  Object.assign(pageContextOf(event), { lastMembership, memberships });
  return lastMembership?.organization;
}

/** A page of the visitor's account. */
export function accountPage(
  show: (services: Services, request: SignedInRequest) => PageResult | Promise<PageResult>,
): PageMaker {
  return signedInPage(async (services, request) => {
    await loadLastOrganization(services, request);
    return show(services, request);
  });
}

/** A form of the visitor's account, which may answer with its page. */
export function accountAction(
  run: (
    services: Services,
    request: SignedInRequest,
    form: URLSearchParams,
  ) => PageResult | Promise<PageResult>,
): ActionMaker {
  return signedInAction(async (services, request, form) => {
    await loadLastOrganization(services, request);
    return run(services, request, form);
  });
}

async function requireMember(services: Services, request: SignedInRequest): Promise<MemberRequest> {
  const parameter = (name: string) => pathParameter(request.event, name) ?? "";
  const slug = parameter("org");
  const membership = slug.includes("\0")
    ? undefined
    : await findMembership(services.db, slug, request.user.id);
  if (!membership) throw notFound("organization");
  nameOwner(membership.organization.id);
  const { token } = request.visitor;
  rememberOrganization(services, request.event, { token, organizationId: membership.organization.id });
  const memberships = await findMemberships(services, request.user);
  Object.assign(pageContextOf(request.event), { membership, memberships });
  const actor = { organization: membership.organization, userId: request.user.id };
  return { ...request, ...membership, actor, parameter };
}
