import { type Invitation, listOpenInvitations } from "../../../shared/accounts/invitation-store.ts";
import { invitationDays, invited, maxOpenInvitations } from "../../../shared/accounts/invitations.ts";
import { type ListedMember, listMembersPage } from "../../../shared/accounts/member-store.ts";
import { newId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxLengthOf } from "../../../shared/validation.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { CsrfField, Field, FormError, LinkButton, PostButton, PostForm, Select } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

const perPage = 30;
const roles = [
  ["member", "Member: pipelines, triggers, builds"],
  ["admin", "Admin: also clusters, queues, members and settings"],
] as const;

interface InvitationDraft {
  id: string;
  recipient: string;
  role: string;
}

/** A refused form of the page. */
interface RefusedMembers {
  problems: FormProblems;
  /** The fields of the invitation form. */
  draft?: InvitationDraft;
}

/** GET /organizations/:org/members */
export const membersPage = memberPage((services, request) => showMembers(services, request));

export function membersPath({ organization }: Pick<MemberRequest, "organization">): string {
  return pathTo(patterns.membersPage, { org: organization.slug });
}

/** The list and, for admins, open invitations and the form of a new one. */
export async function showMembers(
  { db, clock }: Services,
  request: MemberRequest,
  refused?: RefusedMembers,
): Promise<PageContent> {
  const { organization, event, role } = request;
  const now = clock.now();
  const list = await readWithin(readPageOf(event, perPage), (page) =>
    listMembersPage(db, organization.id, page),
  );
  const isAdmin = role === "admin";
  const invitations = isAdmin
    ? await listOpenInvitations(db, organization.id, { now, limit: maxOpenInvitations })
    : [];
  return {
    title: "Members",
    status: refused ? 422 : 200,
    script: "once.js",
    section: "members",
    content: (
      <>
        <h1>Members</h1>
        {refused && !refused.draft && <FormError problems={refused.problems} />}
        <ul class="entries">
          {list.rows.map((member) => (
            <Entry key={member.id} member={member} request={request} />
          ))}
        </ul>
        <NumberPager list={list} path={membersPath(request)} />
        {isAdmin && <Invitations invitations={invitations} request={request} />}
        {isAdmin && <NewInvitation request={request} refused={refused} id={newId(now)} />}
      </>
    ),
  };
}

function Entry({ member, request }: { member: ListedMember; request: MemberRequest }) {
  const { organization, user } = request;
  const parameters = { org: organization.slug, member: member.id };
  const other = member.role === "admin" ? "member" : "admin";
  return (
    <li class="entry">
      <div>
        <h2>
          {member.name}
          {member.id === user.id && <span class="quiet"> (you)</span>}{" "}
          {member.role === "admin" && <span class="tag">Admin</span>}{" "}
          {member.isDeactivated && <span class="tag">Deactivated</span>}
        </h2>
        <p class="quiet">
          {member.email}
          {separator}
          Joined <Time at={member.createdAt} />
        </p>
      </div>
      {request.role === "admin" && (
        <div class="actions">
          <form method="post" action={pathTo(patterns.memberRolePage, parameters)}>
            <CsrfField />
            <button type="submit" name="role" value={other} class="secondary">
              {other === "admin" ? "Make admin" : "Make member"}
              <span class="hidden">: {member.name}</span>
            </button>
          </form>
          <LinkButton
            kind="danger"
            href={pathTo(patterns.removeMemberPage, parameters)}
            text="Remove"
            hidden={member.name}
          />
        </div>
      )}
    </li>
  );
}

function Invitations({
  invitations,
  request: { organization },
}: {
  invitations: Invitation[];
  request: MemberRequest;
}) {
  if (invitations.length === 0) return null;
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      <ul class="entries">
        {invitations.map(({ id, recipient, role, createdAt, expiresAt }) => (
          <li key={id} class="entry">
            <div>
              <h3>
                {recipient} {role === "admin" && <span class="tag">Admin</span>}
              </h3>
              <p class="quiet">
                Created <Time at={createdAt} />
                {separator}
                Expires <Time at={expiresAt} />
              </p>
            </div>
            <PostButton
              path={pathTo(patterns.revokeInvitationPage, { org: organization.slug, invitation: id })}
              class="danger"
            >
              Revoke<span class="hidden"> the invitation of {recipient}</span>
            </PostButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewInvitation({
  request: { organization },
  refused,
  id,
}: {
  request: MemberRequest;
  refused: RefusedMembers | undefined;
  id: string;
}) {
  const { draft } = refused ?? {};
  const problems = draft && refused?.problems;
  return (
    <section class="card" aria-labelledby="invite">
      <h2 id="invite">Invite somebody</h2>
      <p>You get a link that works once, for {invitationDays} days. Send it to the person yourself.</p>
      <PostForm
        path={pathTo(patterns.invitationsPage, { org: organization.slug })}
        id={draft?.id ?? id}
        problems={problems}
        button="Create link"
      >
        <Field
          label="For"
          name="recipient"
          value={draft?.recipient}
          maxLength={maxLengthOf(invited)}
          required
          problems={problems}
          hint="A name or an email address, so that you know the link in the list."
        />
        <Select label="Role" name="role" value={draft?.role ?? "member"} options={roles} />
      </PostForm>
    </section>
  );
}
