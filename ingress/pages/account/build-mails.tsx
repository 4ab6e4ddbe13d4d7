import { findBuildMails } from "../../../shared/accounts/member-store.ts";
import { chooseBuildMails } from "../../../shared/accounts/members.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { type BuildMails, buildMails } from "../../../shared/vocabulary.ts";
import { PostForm, Select } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";

const words: Record<BuildMails, string> = {
  failed: "when they fail",
  all: "when they end",
  none: "never",
};

/** GET /organizations/:org/mails */
export const buildMailsPage = memberPage(async (services, request) => {
  const { organization, user } = request;
  const chosen = await findBuildMails(services.db, organization.id, user.id);
  return show(request, { chosen: chosen ?? "failed", isSent: services.config.smtpUrl !== undefined });
});

/** POST … {build_mails} */
export const saveBuildMails = memberAction(async (services, request, form) => {
  const { organization, user } = request;
  const given = form.get("build_mails") ?? "";
  const chosen = buildMails.find((each) => each === given);
  if (!chosen)
    return show(request, { chosen: "failed", isSent: services.config.smtpUrl !== undefined }, [
      { field: "build_mails", message: `Mails must be one of ${buildMails.join(", ")}` },
    ]);
  await chooseBuildMails(services, { organizationId: organization.id, userId: user.id }, chosen);
  return withNotice(pathOf(request), "build_mails_saved");
});

function pathOf({ organization }: MemberRequest): string {
  return pathTo(patterns.buildMailsPage, { org: organization.slug });
}

function show(
  request: MemberRequest,
  { chosen, isSent }: { chosen: BuildMails; isSent: boolean },
  problems?: FormProblems,
): PageContent {
  const { organization, user } = request;
  return narrowPage({
    title: "Mails about builds",
    problems,
    heading: "Mails about builds",
    content: (
      <>
        {!isSent && (
          <p class="notice neutral">
            This installation sends no mail. The operator sets <code>SMTP_URL</code>, and{" "}
            <code>MAIL_FROM</code> for its sender.
          </p>
        )}
        <PostForm path={pathOf(request)} problems={problems} button="Save">
          <Select
            label={`Mails about my builds in ${organization.name}`}
            name="build_mails"
            value={chosen}
            options={buildMails.map((each) => [each, words[each]] as const)}
            problems={problems}
            hint={`They go to ${user.email}. A build is yours if you made it, or if its author has this address and it is of no fork.`}
          />
        </PostForm>
      </>
    ),
  });
}
