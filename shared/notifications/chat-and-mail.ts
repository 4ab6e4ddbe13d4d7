import { listAnsweredJobs } from "../builds/reading/answer-store.ts";
import { findBuildById } from "../builds/triggered/store.ts";
import { chatBody } from "../messages/chat.ts";
import { mailOf } from "../messages/mail.ts";
import { mailing } from "../messages/mailing.ts";
import { tellBuild, tellStep } from "../messages/tell.ts";
import type { Told } from "../messages/told.ts";
import type { Message, Prepared, Rest } from "../outbox/kind.ts";
import type { Services } from "../services/services.ts";
import type { NewsEvent } from "../vocabulary.ts";
import { stateOf } from "./matching.ts";
import { secretOf, titleOfService } from "./notification-services.ts";
import type { SlackSettings } from "./settings.ts";
import type { NotificationService } from "./store.ts";

/** The part of a mail that is in no row. */
export interface MailTarget {
  address: string;
}

export async function prepareChat(
  services: Services,
  service: NotificationService,
  message: Message,
): Promise<Prepared | undefined> {
  const url = secretOf(services, service);
  const told = await tell(services, message);
  if (url === undefined || !told) return undefined;
  const { theme } = service.settings as unknown as SlackSettings;
  const body = JSON.stringify(chatBody(url, told, { hasMarks: theme === "emoji" }));
  const headers = { "Content-Type": "application/json" };
  return { request: { method: "POST", url, headers, body }, keepsBody: true };
}

export async function prepareMail(
  services: Services,
  service: NotificationService,
  message: Message,
): Promise<Prepared | Rest | undefined> {
  const told = await tell(services, message);
  if (!told) return undefined;
  const { address } = message.target as MailTarget;
  const reason = `You get this mail because the notification service “${titleOfService(service)}” names this address.`;
  const { organizationId, id } = message;
  return mailing(services, { organizationId, mail: { to: address, ...mailOf(told, { reason }), id } });
}

/** Undefined: what it tells of was deleted, or runs again and will end again. */
async function tell(services: Services, { event, buildId, jobId }: Message): Promise<Told | undefined> {
  const build = buildId === null ? undefined : await findBuildById(services.db, buildId);
  if (!build || !stateOf({ event: event as NewsEvent, build, clusterId: null })) return undefined;
  const toldBuild = await tellBuild(services, build);
  if (!toldBuild) return undefined;
  const { address, ...told } = toldBuild;
  if (jobId === null) return { build: told };
  const [found] = await listAnsweredJobs(services.db, { ids: [jobId] });
  return found && { build: told, step: tellStep(services, address, found.job, "unblocked") };
}
