import { findMember } from "../../../shared/accounts/member-store.ts";
import { expelMember, setRole } from "../../../shared/accounts/members.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { adminAction, adminPage, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { asSentence, type FormProblems, tryForm } from "../ui/problems.ts";
import { membersPath, showMembers } from "./list.tsx";

type Member = Awaited<ReturnType<typeof loadMember>>;

/** POST …/members/:member/role {role} */
export const changeRole = adminAction(async (services, request, form) => {
  const member = await loadMember(services, request);
  const role = form.get("role") === "admin" ? "admin" : "member";
  const outcome = await tryForm(() => setRole(services, request.actor, member, role));
  if ("problems" in outcome) return showMembers(services, request, { problems: outcome.problems });
  return withNotice(membersPath(request), "role_changed");
});

/** GET …/members/:member/remove */
export const removeMemberPage = adminPage(async (services, request) => {
  return confirm(request, await loadMember(services, request));
});

/** POST …/remove. A member who removes oneself no longer sees the members. */
export const removeMemberForm = adminAction(async (services, request) => {
  const member = await loadMember(services, request);
  const outcome = await tryForm(() => expelMember(services, request.actor, member));
  if ("problems" in outcome) return confirm(request, member, outcome.problems);
  const isSelf = member.id === request.user.id;
  return withNotice(isSelf ? patterns.home : membersPath(request), "member_removed");
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

function confirm(request: MemberRequest, member: Member, problems?: FormProblems): PageContent {
  const { organization, user } = request;
  const who = member.id === user.id ? "yourself" : member.name;
  return confirmation({
    title: `Remove ${who}?`,
    section: "members",
    text: `${member.email} no longer sees ${organization.name}. Access tokens and connected apps for it end at once.`,
    button: "Remove",
    path: pathTo(patterns.removeMemberPage, { org: organization.slug, member: member.id }),
    back: membersPath(request),
    problem: problems && asSentence(problems),
  });
}
