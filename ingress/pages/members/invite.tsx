import { invite, revokeInvitation } from "../../../shared/accounts/invitations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { CopyField } from "../ui/copy-field.tsx";
import { LinkButton } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { adminAction, type MemberRequest } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { tryForm } from "../ui/problems.ts";
import { Time } from "../ui/times.tsx";
import { membersPath, showMembers } from "./list.tsx";

/** POST …/invitations {id, recipient, role}: the answer shows the link, once. */
export const createInvitation = adminAction(async (services, request, form) => {
  const draft = {
    id: readFormId(services, form),
    recipient: (form.get("recipient") ?? "").trim(),
    role: form.get("role") === "admin" ? ("admin" as const) : ("member" as const),
  };
  const outcome = await tryForm(() => invite(services, request.actor, draft), { recipient: "recipient" });
  if ("problems" in outcome) return showMembers(services, request, { draft, problems: outcome.problems });
  if (!outcome.done) return withNotice(membersPath(request), "invitation_shown");
  return created(services, request, { ...outcome.done, recipient: draft.recipient });
});

/** POST …/invitations/:invitation/revoke */
export const revokeInvitationForm = adminAction(async (services, request) => {
  await revokeInvitation(services, request.actor, request.parameter("invitation"));
  return withNotice(membersPath(request), "invitation_revoked");
});

function created(
  { config }: Services,
  request: MemberRequest,
  { token, expiresAt, recipient }: { token: string; expiresAt: Date; recipient: string },
): PageContent {
  return {
    title: "Invitation created",
    script: "copy.js",
    section: "members",
    content: (
      <>
        <h1>Invitation created</h1>
        <p>
          This link is for “{recipient}”. <strong>Copy it now: it is not shown again.</strong> Whoever opens
          it first can join. It expires <Time at={expiresAt} />.
        </p>
        <CopyField
          id="link"
          label="Link"
          rows={2}
          value={config.appUrl + pathTo(patterns.invitation, { token })}
        />
        <p class="actions">
          <LinkButton href={membersPath(request)} text="I have copied it" />
        </p>
      </>
    ),
  };
}
