import { findBuildMails } from "../../../shared/accounts/member-store.ts";
import { chooseBuildMails } from "../../../shared/accounts/members.ts";
import { findOrganizationById, type Organization } from "../../../shared/accounts/organization-store.ts";
import { readUnsubscribeToken } from "../../../shared/notices/unsubscribe.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { pathParameter } from "../../http/routing.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { type PageContent, type PageRequest, page } from "../ui/page.ts";

/** GET /unsubscribe/:token, from a mail. It changes nothing: programs that read mails open links before people do. */
export const unsubscribePage = page(async (services, request) => {
  const { token, organization, member } = await requireMember(services, request);
  const chosen = await findBuildMails(services.db, organization.id, member.userId);
  return chosen === undefined || chosen === "none" ? ended(organization) : question(organization, token);
});

/**
 * POST /unsubscribe/:token, by the button of the page or by a program that reads mails (RFC 8058). The token is all that is
 * asked for: such programs have no session, so this is no form of one.
 */
export const unsubscribe = page(async (services, request) => {
  const { organization, member } = await requireMember(services, request);
  await chooseBuildMails(services, member, "none");
  return ended(organization);
});

/** @throws Refusal 404 */
async function requireMember(services: Services, { event }: PageRequest) {
  const token = pathParameter(event, "token") ?? "";
  const member = readUnsubscribeToken(services, token);
  const organization = member && (await findOrganizationById(services.db, member.organizationId));
  if (!member || !organization)
    throw new Refusal(404, "This link does not end mails. Open the one of a newer mail.");
  return { token, organization, member };
}

const title = "Mails about builds";

function question({ name }: Organization, token: string): PageContent {
  return narrowPage({
    title,
    content: (
      <>
        <p>You get mails about your builds in {name}.</p>
        <form method="post" action={pathTo(patterns.unsubscribe, { token })}>
          <input type="hidden" name="List-Unsubscribe" value="One-Click" />
          <button type="submit">Unsubscribe</button>
        </form>
      </>
    ),
  });
}

function ended({ name, slug }: Organization): PageContent {
  return narrowPage({
    title,
    content: (
      <>
        <p>You get no mails about your builds in {name}.</p>
        <p>
          <a href={pathTo(patterns.buildMailsPage, { org: slug })}>Choose which mails you get</a>
        </p>
      </>
    ),
  });
}
