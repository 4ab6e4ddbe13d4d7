import { listMailedMembers, type MailedMember } from "../accounts/member-store.ts";
import { normalizeEmail } from "../accounts/user-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { isOfFork } from "../builds/rows/facts.ts";
import { findBuildById } from "../builds/triggered/store.ts";
import { mailOf } from "../messages/mail.ts";
import { mailing } from "../messages/mailing.ts";
import { receiverOfAddress } from "../messages/receiver.ts";
import { tellBuild } from "../messages/tell.ts";
import type { Message, MessageKind, NewMessage, PreparedMail, Rest } from "../outbox/kind.ts";
import type { Services } from "../services/services.ts";
import { web } from "../settings/urls.ts";
import { finishedBuildStates } from "../vocabulary.ts";
import { type FailureTarget, followSender, prepareFailureMail } from "./failure-mails.ts";
import { listEndedBuilds } from "./store.ts";
import { unsubscribeTokenOf } from "./unsubscribe.ts";

/** The member. Their address, choice and membership are read when the mail is sent. */
interface BuildTarget {
  userId: string;
}

/**
 * Mails to members about their own builds, as each chooses. A build is its creator's, and that of the member whose address
 * its author has. What a fork says of its author counts for nothing. Admins get mail about what fails to send, too.
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
          target: { userId } satisfies BuildTarget,
        }),
      );
    });
  },

  async prepare(services, message) {
    const target = message.target as BuildTarget | FailureTarget;
    return "type" in target
      ? prepareFailureMail(services, message, target)
      : prepareBuildMail(services, message, target);
  },

  followed: followSender,
};

async function prepareBuildMail(
  services: Services,
  { id, organizationId, buildId }: Message,
  { userId }: BuildTarget,
): Promise<PreparedMail | Rest | undefined> {
  const { db, config, cipher } = services;
  const build = buildId === null ? undefined : await findBuildById(db, buildId);
  if (!build || !finishedBuildStates.includes(build.state)) return undefined;
  const [member] = await listMailedMembers(db, organizationId, { userIds: [userId], emails: [] });
  const told = await tellBuild(services, build);
  if (!member || !told || !wants(member, build)) return undefined;
  const reason =
    build.creatorId === userId
      ? "You get this mail because you made the build."
      : "You get this mail because the author of the build has your address.";
  const unsubscribeUrl = web.unsubscribe(config, unsubscribeTokenOf({ cipher }, { organizationId, userId }));
  const ways = [
    { words: "Change which mails you get", url: web.buildMails(config, told.address.org) },
    { words: "Unsubscribe", url: unsubscribeUrl },
  ];
  const mail = { to: member.email, ...mailOf({ build: told }, { reason, ways }), unsubscribeUrl, id };
  return mailing(services, { organizationId, mail });
}

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
