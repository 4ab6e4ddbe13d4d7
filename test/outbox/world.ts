import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Message, MessageKind, MessageKinds, NewMessage } from "../../shared/outbox/kind.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { putMessages } from "../../shared/outbox/put.ts";
import { openOutgoing } from "../../shared/outgoing/outgoing.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import type { Services } from "../../shared/services/services.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { openReceiver } from "./receiver.ts";

/** A message posts its event to the address that its target has. */
export const postingKind: MessageKind = {
  async messagesOf(_tx, _services, news) {
    return news.map(({ event, buildId }) => ({ receiver: "unused", event, buildId }));
  },
  async prepare(_services, { id, event, buildId: build, tries: times, target }) {
    const { url } = target as { url: string };
    const body = JSON.stringify({ id, event, build, times });
    return { request: { method: "POST", url, body }, keepsBody: true };
  },
};

/** An installation with an organization, and outboxes that send to this machine. */
export async function openOutboxWorld(database: TestDatabase) {
  const world = await startWorld(database);
  const acme = await setUpOrganization(world);
  const organizationId = acme.id;
  const { db } = world.services;
  // Nobody else listens to what is due.
  const services: Services = {
    ...world.services,
    outgoing: openOutgoing(["127.0.0.0/8"]),
    due: openDueEvents(),
  };
  const receivers: Awaited<ReturnType<typeof openReceiver>>[] = [];
  return {
    world,
    services,
    acme,
    organizationId,
    async newReceiver() {
      const receiver = await openReceiver();
      receivers.push(receiver);
      return receiver;
    },
    /** Writes messages to a receiver. Its key is its address. */
    async put(
      url: string,
      messages: (Partial<NewMessage> & { event: string })[],
      owner = organizationId,
    ): Promise<void> {
      const rows = messages.map((message) => ({
        kind: "service" as const,
        receiver: url,
        target: { url },
        ...message,
      }));
      await db.transaction((tx) => putMessages(tx, owner, rows));
    },
    /** Sends what is due. */
    async send(
      workers = 1,
      kinds: MessageKinds = { service: postingKind },
      other: Partial<Services> = {},
    ): Promise<void> {
      const opened = Array.from({ length: workers }, () => openOutbox({ ...services, ...other }, kinds));
      for (const each of opened) each.wake();
      await Promise.all(opened.map((each) => each.idle()));
      await Promise.all(opened.map((each) => each.close()));
    },
    async messages(receiver?: string): Promise<Message[]> {
      const { outbox } = db.tables;
      const found = await db
        .select()
        .from(outbox)
        .where(receiver === undefined ? undefined : eq(outbox.receiver, receiver));
      return found.sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    receivers: () => db.select().from(db.tables.outboxReceivers),
    newBuildId: () => randomUUID(),
    async close() {
      for (const receiver of receivers) await receiver.close();
      await world.close();
    },
  };
}

export type OutboxWorld = Awaited<ReturnType<typeof openOutboxWorld>>;
