import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { newId } from "../../shared/ids.ts";
import { memberMails } from "../../shared/notices/member-mails.ts";
import { noticeMessages } from "../../shared/notices/message-kind.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import type { Services } from "../../shared/services/services.ts";
import { openHosts } from "../builds/hosts/open-hosts.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { openMailServer } from "../mail/mail-server.ts";
import { openReceivers } from "./receivers.ts";

export type Notices = Awaited<ReturnType<typeof openNotices>>;

/** Like `openHosts`, with a mail server and receivers, and a worker that tells them. */
export async function openNotices(database: TestDatabase, settings: Record<string, string> = {}) {
  const mail = await openMailServer();
  const receivers = await openReceivers();
  const hosts = await openHosts(database, {
    OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8",
    SMTP_URL: mail.url,
    MAIL_FROM: "Signalbox <ci@example.com>",
    ...settings,
  });
  const { world, acme, admin } = hosts.api;
  const services = { ...world.services, due: openDueEvents() };
  const { db, cipher, clock } = services;

  /** Makes messages of all news, and sends what is due. */
  const tell = async (more: Partial<Services> = {}) => {
    await hosts.settle();
    const outbox = openOutbox({ ...services, ...more }, { notify: noticeMessages, mail: memberMails });
    outbox.wake();
    await outbox.idle();
    await outbox.close();
  };
  return {
    ...hosts,
    mail,
    receivers,
    services,
    tell,
    /** A notification service for a chat. */
    async addChat(
      name: string,
      channel: string | null,
      { url = `${receivers.url}/chat/${name}`, ...change }: { enabled?: boolean; url?: string } = {},
    ): Promise<string> {
      const id = newId(clock.now());
      const row = {
        id,
        organizationId: acme.id,
        provider: "slack" as const,
        description: name,
        events: [],
        buildStates: [],
        settings: { theme: "emoji", channel },
        secretSealed: cipher.seal(url, sealedPlaces.secretOfService(id)),
        createdAt: clock.now(),
        createdById: admin.id,
        updatedAt: clock.now(),
        updatedById: admin.id,
        ...change,
      };
      await db.transaction(async (tx) => {
        await tx.insert(tx.tables.notificationServices).values(row);
      });
      return id;
    },
    removeChats: () =>
      db.transaction(async (tx) => {
        await tx.delete(tx.tables.notificationServices);
      }),
    messages: () => db.select().from(db.tables.outbox).orderBy(db.tables.outbox.id),
    async close() {
      await hosts.close();
      await receivers.close();
      await mail.close();
    },
  };
}
