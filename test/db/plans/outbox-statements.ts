import { newId } from "../../../shared/ids.ts";
import * as news from "../../../shared/news/store.ts";
import * as lists from "../../../shared/outbox/list-store.ts";
import * as sent from "../../../shared/outbox/sent-store.ts";
import * as outbox from "../../../shared/outbox/store.ts";
import * as waking from "../../../shared/outbox/wake-store.ts";
import { findNewerStatus } from "../../../shared/statuses/store.ts";
import { shared } from "./fill.ts";
import type { Statement } from "./statements.ts";

const now = new Date(Date.UTC(2026, 0, 1, 0, 1));
const { organization: organizationId } = shared;
const key = { organizationId, receiver: "receiver 7" };
const ids = [newId(now), newId(now)];
const nothing = { endedAt: null, answerStatus: null, answer: null, durationMs: null, request: null };
const tried = {
  id: newId(now),
  organizationId,
  revision: 0,
  state: "waiting",
  tries: 0,
  dueAt: now,
  ...nothing,
};
const on = (plan: RegExp, run: Statement["run"]): Statement => ({ run, sqlite: plan, postgres: plan });

/** The statements that make messages of news, and send them. */
export const outboxStatements: Record<string, Statement> = {
  "the next organization with news": on(/news_order/, (tx) =>
    news.findNextOwner(tx as never, organizationId),
  ),
  "the oldest news of an organization": on(/news_order/, (tx) =>
    news.listNews(tx, { organizationId, limit: 100 }),
  ),
  "news that became messages": on(/news_pkey|sqlite_autoindex_news_1/, (tx) => news.deleteNews(tx, { ids })),
  "services that hear": on(/notification_services_list/, (tx) =>
    news.listServicesThatHear(tx, organizationId),
  ),
  "hosts that hear": on(/repository_connections_/, (tx) => news.hasHostThatHears(tx, organizationId)),
  "the next organization with receivers": on(/outbox_receivers_/, (tx) =>
    outbox.findNextOwner(tx as never, organizationId),
  ),
  "receivers that are due": on(/outbox_receivers_due/, (tx) =>
    outbox.listDueReceivers(tx as never, { organizationId, now, isFailing: false, limit: 32 }),
  ),
  "a receiver": on(/outbox_receivers_/, (tx) => outbox.takeReceiverIfDue(tx, { ...key, now, until: now })),
  "a receiver that fails": on(/outbox_receivers_failing/, (tx) =>
    sent.findFailingReceiver(tx, { organizationId, beginning: "connection:7:" }),
  ),
  "receivers of a page": on(/outbox_receivers_/, (tx) =>
    sent.listReceivers(tx as never, organizationId, ["a", "b"]),
  ),
  "a status of a newer build": on(/(?=.*builds_pipeline_commit).*outbox_build/s, (tx) =>
    findNewerStatus(tx as never, { pipelineId: shared.few[0], commit: "f".repeat(40), number: 7 } as never, {
      receiver: "receiver 7",
      context: "service/web",
    }),
  ),
  "messages that are due": on(/outbox_due/, (tx) =>
    outbox.listDueMessages(tx as never, { ...key, now, limit: 32 }),
  ),
  "the next message of a receiver": on(/outbox_due/, (tx) => outbox.findNextDue(tx, key)),
  "a message that was tried": on(/outbox_pkey|sqlite_autoindex_outbox_1|outbox_waiting/, (tx) =>
    outbox.updateMessageIfSame(tx, tried as never, { state: "sent", endedAt: now }),
  ),
  "messages that have waited too long": on(/outbox_due/, (tx) =>
    outbox.failOldMessages(tx, key, { before: now, now, limit: 100 }),
  ),
  "older requests of a service": on(/outbox_service|outbox_pkey|sqlite_autoindex_outbox_1/, (tx) =>
    outbox.forgetOldRequests(tx, shared.few[0] ?? "", 20),
  ),
  "old messages": on(/outbox_ended/, (tx) => outbox.deleteMessagesBefore(tx, now, 200)),
  "messages that wait": on(/outbox_waiting/, (tx) =>
    lists.listMessagesPage(tx as never, { organizationId, state: "waiting" }, { limit: 30, offset: 0 }),
  ),
  "messages that failed": on(/outbox_failed/, (tx) =>
    lists.listMessagesPage(tx as never, { organizationId, state: "failed" }, { limit: 30, offset: 0 }),
  ),
  "the oldest failed messages": on(/outbox_failed/, (tx) => lists.listFailedIds(tx, organizationId, 200)),
  "messages to send again": on(/outbox_pkey|sqlite_autoindex_outbox_1/, (tx) =>
    lists.makeDueIfOpen(tx, organizationId, ids),
  ),
  "messages that rest": on(/outbox_(waiting|due)/, (tx) =>
    waking.listResting(tx, { id: newId(now), organizationId }, { now, after: undefined, limit: 200 }),
  ),
  "resting messages to send again": on(/outbox_pkey|sqlite_autoindex_outbox_1/, (tx) =>
    waking.makeDueIfResting(tx, organizationId, ids),
  ),
  "the oldest message of a kind": {
    run: (tx) => lists.findWaitingMessages(tx, "status", 5000),
    sqlite: /outbox_age/,
    // No message waits among these rows: to Postgres, the indexes of waiting ones are equal.
    postgres: /outbox_(age|waiting|due|topic)/,
  },
};
