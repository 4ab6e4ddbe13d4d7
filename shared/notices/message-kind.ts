import type { Build } from "../builds/rows/build-store.ts";
import { findBuildById } from "../builds/triggered/store.ts";
import { chatBody } from "../messages/chat.ts";
import { mailOf } from "../messages/mail.ts";
import { mailing } from "../messages/mailing.ts";
import { receiverOfAddress } from "../messages/receiver.ts";
import { tellBuild, tellStep } from "../messages/tell.ts";
import type { Told, ToldStep } from "../messages/told.ts";
import { eventNameOf, writeBodyOfBuild } from "../notifications/bodies.ts";
import { webhookHeaders } from "../notifications/headers.ts";
import { receiverOf, secretOf } from "../notifications/notification-services.ts";
import { listEnabledServices, listServicesById } from "../notifications/store.ts";
import type { Message, MessageKind, NewMessage, Prepared, Rest } from "../outbox/kind.ts";
import type { MessageTurn } from "../outbox/turn.ts";
import type { OutgoingRequest } from "../outgoing/outgoing.ts";
import { kindOf } from "../pipelines/notify/kinds.ts";
import type { Services } from "../services/services.ts";
import type { Notice } from "../vocabulary.ts";
import { campfireBody, changeEventBody, changeEventsUrl } from "./bodies.ts";
import { type Chat, chatsAmong, reachedChats } from "./chats.ts";
import { findDueNotices } from "./due.ts";
import type { DueNotice } from "./due-notice.ts";
import { stillHolds } from "./events.ts";
import { findJobById } from "./store.ts";

/** Statuses of commits are messages of their own. */
const sentHere = ["email", "webhook", "slack", "basecamp_campfire", "pagerduty_change_event"] as const;
type SentKind = (typeof sentHere)[number];

/** Facts that a message needs and no row has. The notice may be secret. */
interface Target {
  notice: Notice;
  /** Of a step or a group. */
  step?: Pick<ToldStep, "outcome"> & { label: string | null };
  /** The channels of the notice, which no service has: the chat stands in for them. */
  instead?: string;
}

/** Messages that `notify` of documents and steps asks for. */
export const noticeMessages: MessageKind = {
  async messagesOf(tx, services, news) {
    const due = await findDueNotices(tx, services, news, sentHere);
    const [first] = due;
    if (!first) return [];
    const isOfChats = due.some(({ notice }) => notice.slack !== undefined);
    const chats = isOfChats ? chatsAmong(await listEnabledServices(tx, first.build.organizationId)) : [];
    return due.flatMap((each) => messagesOf(services, each, chats));
  },

  async prepare(services, message, turn) {
    const { notice, step, instead } = message.target as Target;
    const build = message.buildId === null ? undefined : await findBuildById(services.db, message.buildId);
    if (!build || !stillHolds(message.event, build)) return undefined;
    const told = await tell(services, build, message, step);
    if (!told) return undefined;
    return prepareFor[kindOf(notice) as SentKind](services, { notice, build, told, message, instead, turn });
  },
};

function messagesOf(
  { config }: Services,
  { news, build, notice, unit, event, place }: DueNotice,
  chats: Chat[],
): NewMessage[] {
  const kind = kindOf(notice);
  const outcome = event === "step.failing" ? "failing" : unit?.outcome;
  const target: Target = {
    notice,
    ...(unit && outcome && { step: { outcome, label: unit.type === "group" ? unit.label : null } }),
  };
  const message = {
    event,
    buildId: build.id,
    jobId: news.jobId,
    target,
    // A build that fails and ends within a moment is told of once. Receivers of webhooks get each event.
    topic: kind === "webhook" ? null : `notify ${build.id} ${place}`,
  };
  const to = (receiver: string): NewMessage[] => [{ ...message, receiver }];
  switch (kind as SentKind) {
    case "email":
      return config.smtpUrl === undefined
        ? []
        : to(receiverOfAddress("mail", (notice.email as string).toLowerCase()));
    case "slack":
      return reachedChats(notice, chats).map(({ serviceId, instead }) => ({
        ...message,
        // That of the service's own messages: they rest together.
        receiver: receiverOf({ id: serviceId }),
        serviceId,
        target: { ...target, ...(instead !== undefined && { instead }) },
      }));
    case "webhook":
      return to(receiverOfAddress("notify", notice.webhook as string));
    case "basecamp_campfire":
      return to(receiverOfAddress("notify", notice.basecamp_campfire as string));
    case "pagerduty_change_event":
      return to(receiverOfAddress("notify", notice.pagerduty_change_event as string));
  }
}

async function tell(
  services: Services,
  build: Build,
  { jobId }: Message,
  step: Target["step"],
): Promise<Told | undefined> {
  const toldBuild = await tellBuild(services, build);
  if (!toldBuild) return undefined;
  const { address, ...told } = toldBuild;
  if (!step) return { build: told };
  const job = jobId === null ? undefined : await findJobById(services.db, jobId);
  if (!job) return undefined;
  const ofJob = tellStep(services, address, job, step.outcome);
  return { build: told, step: step.label === null ? ofJob : { ...ofJob, name: step.label } };
}

interface Preparing {
  notice: Notice;
  build: Build;
  told: Told;
  message: Message;
  instead: string | undefined;
  turn: MessageTurn;
}
type Prepare = (services: Services, preparing: Preparing) => Promise<Prepared | Rest | undefined>;

const prepareFor: Record<SentKind, Prepare> = {
  email: async (services, { notice, told, message }) => {
    const { subject, text, html } = mailOf(told, {
      reason: "You get this mail because notify of the pipeline names this address.",
    });
    return mailing(services, {
      organizationId: message.organizationId,
      mail: { to: notice.email as string, subject, text, html, id: message.id },
    });
  },
  slack: async (services, { notice, told, message, instead }) => {
    const id = message.serviceId ?? "";
    const chat = (await listServicesById(services.db, [id])).get(id);
    const url = chat?.enabled ? secretOf(services, chat) : undefined;
    if (url === undefined) return undefined;
    const above = typeof notice.slack === "string" ? undefined : notice.slack?.message;
    const note = instead && `No notification service has the channel ${instead}`;
    return { request: postOf(url, chatBody(url, told, { message: above, note })) };
  },
  webhook: async (services, { notice, build, message, turn }) => {
    const body = await writeBodyOfBuild(services, build, message.event, turn);
    if (body === undefined) return undefined;
    const event = eventNameOf(message.event);
    const headers = webhookHeaders({ event, id: message.id, body, now: services.clock.now() });
    return { request: { method: "POST", url: notice.webhook as string, headers, body } };
  },
  basecamp_campfire: async (_services, { notice, told }) => ({
    request: postOf(notice.basecamp_campfire as string, campfireBody(told)),
  }),
  pagerduty_change_event: async ({ config }, { notice, told }) => ({
    request: postOf(
      changeEventsUrl,
      changeEventBody(told, {
        key: notice.pagerduty_change_event as string,
        source: new URL(config.appUrl).host,
      }),
    ),
  }),
};

function postOf(url: string, body: object): OutgoingRequest {
  return { method: "POST", url, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}
