import { type AdminWithMail, listAdmins } from "../accounts/member-store.ts";
import { findOrganizationById } from "../accounts/organization-store.ts";
import { receiversOf } from "../connections/receivers.ts";
import { findConnection } from "../connections/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { hourMs } from "../durations.ts";
import { layOut } from "../messages/mail-layout.ts";
import { mailing } from "../messages/mailing.ts";
import { receiverOfAddress } from "../messages/receiver.ts";
import { firstLine } from "../messages/told.ts";
import { type Failing, findFailing } from "../notifications/failing.ts";
import { receiverOf, titleOfService } from "../notifications/notification-services.ts";
import { findNotificationService } from "../notifications/store.ts";
import type { Message, NewMessage, PreparedMail, Rest, Tried } from "../outbox/kind.ts";
import { putMessages } from "../outbox/put.ts";
import { findFailingReceiver } from "../outbox/sent-store.ts";
import type { Services } from "../services/services.ts";
import { web } from "../settings/urls.ts";
import { type Sender, setMailed } from "./failure-mails-store.ts";

// Admins get one mail about a notification service or a repository connection that has failed for an hour, and none more
// until it has worked again. Its row keeps that they got it.

/** The admin. What fails is read when the mail is sent. */
export interface FailureTarget extends Sender {
  userId: string;
}

const mailedAfterMs = hourMs;
/** Those who joined first. */
const maxAdmins = 20;

/** Follows the tries of a turn: they have one receiver, and so one sender at most. */
export async function followSender(services: Services, tries: readonly Tried[]): Promise<void> {
  const [first] = tries;
  const sender = first && senderOf(first.message);
  if (!sender) return;
  const { db, mailer, clock } = services;
  const { organizationId } = first.message;
  if (tries.some(({ verdict }) => verdict?.outcome === "sent")) {
    if (await mayHaveMended(db, organizationId, sender))
      await db.transaction((tx) => setMailed(tx, sender, null));
    return;
  }
  const lateAt = clock.now().getTime() - mailedAfterMs;
  const isLate = ({ message, verdict, isUntried }: Tried) =>
    verdict !== undefined && !isUntried && message.createdAt.getTime() <= lateAt;
  if (mailer !== undefined && tries.some(isLate))
    await db.transaction((tx) => mailAdmins(tx, organizationId, sender));
}

function senderOf({ serviceId, connectionId }: Message): Sender | undefined {
  if (serviceId !== null) return { type: "service", id: serviceId };
  return connectionId === null ? undefined : { type: "connection", id: connectionId };
}

/** Of several processes that find the failure at once, one writes the mails. */
async function mailAdmins(tx: Tx, organizationId: string, sender: Sender): Promise<void> {
  const known = await describe(tx, organizationId, sender);
  if (!known?.failing || !(await setMailed(tx, sender, tx.now))) return;
  const admins = await listAdmins(tx, organizationId, { limit: maxAdmins });
  await putMessages(
    tx,
    organizationId,
    admins.map((admin) => messageTo(admin, sender)),
  );
}

function messageTo({ userId, email }: AdminWithMail, sender: Sender): NewMessage & { kind: "mail" } {
  return {
    kind: "mail",
    receiver: receiverOfAddress("mail", email),
    event: `${sender.type}.failing`,
    topic: `failing ${sender.id} ${userId}`,
    target: { ...sender, userId } satisfies FailureTarget,
  };
}

/** Makes the mail to an admin. Undefined: it works again, or the admin, or what failed, is there no more. */
export async function prepareFailureMail(
  services: Services,
  { organizationId, id }: Message,
  { userId, ...sender }: FailureTarget,
): Promise<PreparedMail | Rest | undefined> {
  const { db, config } = services;
  const organization = await findOrganizationById(db, organizationId);
  const known = organization && (await describe(db, organizationId, sender));
  const [admin] = await listAdmins(db, organizationId, { userId, limit: 1 });
  if (!organization || !known?.failing || known.mailedAt === null || !admin) return undefined;
  const name = firstLine(organization.name, 100);
  const { failing, title, advice } = known;
  const page = sender.type === "service" ? web.service : web.connection;
  const mail = layOut({
    subject: `Failing: ${title} (${name})`,
    headline: `The ${title} fails`,
    tone: "bad",
    facts: [
      ["Problem", firstLine(failing.problem)],
      ["Since", `${failing.since.toISOString().slice(0, 16).replace("T", " ")} UTC`],
      ["In", name],
    ],
    advice,
    link: { words: "Show what fails", url: page(config, organization.slug, sender.id) },
    reason: `You get this mail because you are an admin of ${name}. It comes once, until the ${title} has worked again.`,
  });
  return mailing(services, { organizationId, mail: { ...mail, to: admin.email, id } });
}

interface Known {
  title: string;
  advice: string;
  mailedAt: Date | null;
  failing: Failing | undefined;
}

/** Undefined: it was deleted, or is switched off. */
async function describe(
  db: Db | Tx,
  organizationId: string,
  { type, id }: Sender,
): Promise<Known | undefined> {
  if (type === "service") {
    const service = await findNotificationService(db, organizationId, id);
    if (!service?.enabled) return undefined;
    return {
      title: `notification service “${firstLine(titleOfService(service), 80)}”`,
      advice:
        "Compare its address and its token with those of the receiver, and save it: what waits is sent at once. A message that is not sent within a day has failed, and can be sent again.",
      mailedAt: service.failureMailedAt,
      failing: await findFailing(db, organizationId, service),
    };
  }
  const connection = await findConnection(db, organizationId, id);
  if (!connection) return undefined;
  const failing = await findFailingReceiver(db, { organizationId, beginning: receiversOf(id) });
  return {
    title: `repository connection ${connection.host}`,
    advice:
      "Give its token the rights that its page names, or save another token: statuses that wait are sent at once. A status that is not sent within a day has failed, and can be sent again.",
    mailedAt: connection.failureMailedAt,
    failing: failing && { since: failing.failingSince as Date, problem: failing.problem ?? "It fails" },
  };
}

/** A sender works again once none of its receivers fails: of a connection those of its pipelines, of a service its addresses. */
async function mayHaveMended(db: Db, organizationId: string, { type, id }: Sender): Promise<boolean> {
  const [find, beginning] =
    type === "service"
      ? ([findNotificationService, receiverOf({ id })] as const)
      : ([findConnection, receiversOf(id)] as const);
  const sender = await find(db, organizationId, id);
  if (!sender || sender.failureMailedAt === null) return false;
  return !(await findFailingReceiver(db, { organizationId, beginning }));
}
