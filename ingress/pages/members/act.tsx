import { findMember } from "../../../shared/accounts/member-store.ts";
import { expelMember, setRole } from "../../../shared/accounts/members.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { adminAction, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { tryForm } from "../ui/problems.ts";
import { membersPath, showMembers } from "./list.tsx";

/** POST …/members/:member/role {role} */
export const changeRole = adminAction(async (services, request, form) => {
  const member = await loadMember(services, request);
  const role = form.get("role") === "admin" ? "admin" : "member";
  const outcome = await tryForm(() => setRole(services, request.actor, member, role));
  if ("problems" in outcome) return showMembers(services, request, { problems: outcome.problems });
  return withNotice(membersPath(request), "role_changed");
});

/** GET and POST …/members/:member/remove. A member who removes oneself no longer sees the members. */
export const removeMemberPage = confirmPage({
  section: "members",
  load: loadMember,
  title: ({ id, name }, { user }) => `Remove ${id === user.id ? "yourself" : name}?`,
  text: ({ email }, { organization }) =>
    `${email} no longer sees ${organization.name}. Access tokens and connected apps for it end at once.`,
  button: "Remove",
  path: ({ organization }, { id }) =>
    pathTo(patterns.removeMemberPage, { org: organization.slug, member: id }),
  back: membersPath,
  run: async (services, request, member) => {
    await expelMember(services, request.actor, member);
    return withNotice(member.id === request.user.id ? patterns.home : membersPath(request), "member_removed");
  },
});

/** GET of an address that only takes forms: signing in after the session ended leads here. */
export const redirectToMembers = memberPage((_, request) => membersPath(request));

/** @throws Refusal 404 */
async function loadMember({ db }: Services, request: MemberRequest) {
  const { organization, event } = request;
  const id = request.parameter("member");
  const found = isId(id) ? await findMember(db, organization.id, id) : undefined;
  if (!found) throw notFound("member");
  addCrumbs(event, { text: "Members", path: membersPath(request), isList: true });
  return found;
}
