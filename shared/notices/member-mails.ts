import { listMailedMembers, type MailedMember } from "../accounts/member-store.ts";
import { normalizeEmail } from "../accounts/user-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { isOfFork } from "../builds/rows/facts.ts";
import { findBuildById } from "../builds/triggered/store.ts";
import { mailOf } from "../messages/mail.ts";
import { mailing } from "../messages/mailing.ts";
import { receiverOfAddress } from "../messages/receiver.ts";
import { tellBuild } from "../messages/tell.ts";
import type { MessageKind, NewMessage } from "../outbox/kind.ts";
import { web } from "../settings/urls.ts";
import { finishedBuildStates } from "../vocabulary.ts";
import { listEndedBuilds } from "./store.ts";

/** The member. Their address, choice and membership are read when the mail is sent. */
interface Target {
  userId: string;
}

/**
 * Mails to members about their own builds, as each chooses. A build is its creator's, and that of the member whose address
 * its author has. What a fork says of its author counts for nothing.
 */
export const memberMails: MessageKind = {
  async messagesOf(tx, { config }, news) {
    const ended = news.filter(({ event }) => event === "build.finished");
    const [first] = ended;
    if (!first || config.smtpUrl === undefined) return [];
    const builds = await listEndedBuilds(
      tx,
      ended.flatMap(({ buildId }) => buildId ?? []),
    );
    const userIds = [...builds.values()].flatMap(({ creatorId }) => creatorId ?? []);
    const emails = [...builds.values()].flatMap((build) => authorOf(build) ?? []);
    const members = await listMailedMembers(tx, first.organizationId, {
      userIds: [...new Set(userIds)],
      emails: [...new Set(emails)],
    });
    return ended.flatMap(({ buildId, event }) => {
      const build = builds.get(buildId ?? "");
      if (!build) return [];
      const wanting = members.filter((member) => isOf(build, member) && wants(member, build));
      return wanting.map(
        ({ userId, email }): NewMessage => ({
          receiver: receiverOfAddress("mail", email),
          event,
          buildId: build.id,
          topic: `member ${userId} ${build.id}`,
          target: { userId } satisfies Target,
        }),
      );
    });
  },

  async prepare(services, { id, organizationId, buildId, target }) {
    const { userId } = target as Target;
    const build = buildId === null ? undefined : await findBuildById(services.db, buildId);
    if (!build || !finishedBuildStates.includes(build.state)) return undefined;
    const [member] = await listMailedMembers(services.db, organizationId, { userIds: [userId], emails: [] });
    const told = await tellBuild(services, build);
    if (!member || !told || !wants(member, build)) return undefined;
    const settingsUrl = web.buildMails(services.config, told.address.org);
    const isCreator = build.creatorId === userId;
    const reason = isCreator
      ? "You get this mail because you made the build."
      : "You get this mail because the author of the build has your address.";
    const { subject, text, html } = mailOf({ build: told }, { reason, settingsUrl });
    const mail = { to: member.email, subject, text, html, unsubscribeUrl: settingsUrl, id };
    return mailing(services, { organizationId, mail });
  },
};

type Owned = Pick<Build, "creatorId" | "author" | "options">;

function authorOf(build: Owned): string | undefined {
  const email = isOfFork(build) ? undefined : build.author?.email;
  return email === undefined ? undefined : normalizeEmail(email);
}

function isOf(build: Owned, { userId, email }: MailedMember): boolean {
  return build.creatorId === userId || authorOf(build) === email;
}

function wants({ buildMails }: MailedMember, { state }: Pick<Build, "state">): boolean {
  return buildMails === "all" || (buildMails === "failed" && state === "failed");
}
