import { findOrganizationById, type Organization } from "../accounts/organization-store.ts";
import { findResultBefore } from "../builds/outdated/known-store.ts";
import type { Tx } from "../db/database.ts";
import { receiverOfAddress } from "../messages/receiver.ts";
import type { News } from "../news/store.ts";
import type { Message, MessageKind, NewMessage, Prepared, Rest } from "../outbox/kind.ts";
import type { MessageTurn } from "../outbox/turn.ts";
import type { Services } from "../services/services.ts";
import { eventNameOf, writeBody } from "./bodies.ts";
import { type MailTarget, prepareChat, prepareMail } from "./chat-and-mail.ts";
import { findFacts, type HeardBuild } from "./facts-store.ts";
import { webhookHeaders } from "./headers.ts";
import { type Heard, wants, wantsFixedOnly } from "./matching.ts";
import { receiverOf, secretOf } from "./notification-services.ts";
import type { EmailSettings, WebhookSettings } from "./settings.ts";
import { findNotificationService, listEnabledServices, type NotificationService } from "./store.ts";

/** Requests of notification services, one for each of the news that a service wants. */
export const serviceMessages: MessageKind = {
  async messagesOf(tx, _services, news) {
    const [first] = news;
    const enabled = first ? await listEnabledServices(tx, first.organizationId) : [];
    if (enabled.length === 0) return [];
    const facts = await findFacts(tx, news);
    const messages: NewMessage[] = [];
    for (const each of news) {
      const build = facts.builds.get(each.buildId ?? "");
      const clusterId = build?.clusterId ?? facts.clusters.get(each.agentId ?? "") ?? null;
      if ((each.buildId !== null && !build) || (each.agentId !== null && clusterId === null)) continue; // deleted
      const heard = { event: each.event, build, clusterId };
      for (const service of enabled)
        if (await isWanted(tx, service, heard)) messages.push(...messagesFor(service, each));
    }
    return messages;
  },

  async prepare(services, message, turn) {
    const { organizationId, serviceId } = message;
    const sender = await turn.share(`service ${serviceId}`, () =>
      findSender(services, organizationId, serviceId ?? ""),
    );
    return sender && prepareFor[sender.service.provider](services, sender, message, turn);
  },
};

/** A service that is switched on. */
interface Sender {
  service: NotificationService;
  organization: Organization;
  /** Its token. */
  secret: string | undefined;
}

async function findSender(
  services: Services,
  organizationId: string,
  id: string,
): Promise<Sender | undefined> {
  const service = await findNotificationService(services.db, organizationId, id);
  const organization = service?.enabled ? await findOrganizationById(services.db, organizationId) : undefined;
  return service && organization && { service, organization, secret: secretOf(services, service) };
}

type Prepare = (
  services: Services,
  sender: Sender,
  message: Message,
  turn: MessageTurn,
) => Promise<Prepared | Rest | undefined>;

const prepareFor: Record<NotificationService["provider"], Prepare> = {
  webhook: prepareWebhook,
  slack: (services, { service }, message) => prepareChat(services, service, message),
  email: (services, { service }, message) => prepareMail(services, service, message),
};

async function isWanted(
  tx: Tx,
  service: NotificationService,
  heard: Heard & { build: HeardBuild | undefined },
): Promise<boolean> {
  if (!wants(service, heard)) return false;
  if (!heard.build || !wantsFixedOnly(service, heard)) return true;
  return (await findResultBefore(tx, heard.build)) === "failed";
}

/** A mail is a message for each address: one that is refused does not repeat the others, and one that rests keeps none waiting. */
function messagesFor(service: NotificationService, { event, buildId, jobId, agentId }: News): NewMessage[] {
  const message = { receiver: receiverOf(service), serviceId: service.id, event, buildId, jobId, agentId };
  if (service.provider !== "email") return [message];
  const { addresses } = service.settings as unknown as EmailSettings;
  return addresses.map((address) => ({
    ...message,
    receiver: receiverOfAddress(receiverOf(service), address.toLowerCase()),
    target: { address } satisfies MailTarget,
  }));
}

async function prepareWebhook(
  services: Services,
  { service, organization, secret: token }: Sender,
  message: Message,
  turn: MessageTurn,
): Promise<Prepared | undefined> {
  const { url, token_mode, tls_verify } = service.settings as unknown as WebhookSettings;
  const body = await writeBody(services, { organization, service, subject: message }, turn);
  if (token === undefined || body === undefined) return undefined;
  const headers = webhookHeaders({
    event: eventNameOf(message.event),
    id: message.id,
    body,
    token,
    mode: token_mode,
    now: services.clock.now(),
  });
  return {
    request: { method: "POST", url, headers, body, checksCertificate: tls_verify },
    keepsBody: true,
  };
}
