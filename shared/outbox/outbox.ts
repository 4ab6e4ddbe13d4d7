// News become messages, and messages leave the house, in a process of their own.
//
// | row                 | means                                                                          |
// |---------------------|--------------------------------------------------------------------------------|
// | `news`              | a change was committed, and nobody was told of it yet                          |
// | `outbox`, waiting   | a message that is sent once its receiver and itself are due                    |
// | `outbox_receivers`  | the receiver has messages waiting; when it is due, and which process has it    |
//
// A process that ends in the middle leaves the receiver to others after a minute. They send again what it may have
// sent: each message arrives at least once.

import { minuteMs } from "../durations.ts";
import { putMailIsSent } from "../news/hearers.ts";
import { findNextOwner as findNextWithNews } from "../news/store.ts";
import type { Services } from "../services/services.ts";
import { Background } from "../sharing/background.ts";
import { shares } from "../sharing/bounds.ts";
import { laterWork } from "../sharing/resources.ts";
import { Shares } from "../sharing/shares.ts";
import { type DueWork, openLooks, openVisits } from "../tasks/looks.ts";
import type { MessageKinds } from "./kind.ts";
import { makeMessages, newsOfTransaction } from "./make.ts";
import { openPace } from "./pace.ts";
import { sendInOrder } from "./send.ts";
import { settle } from "./settle.ts";
import {
  findNextOwner,
  listDueMessages,
  listDueReceivers,
  type Receiver,
  takeReceiverIfDue,
} from "./store.ts";

/** The last message of a turn begins within 15 seconds, and a mail may take 30. */
const takenMs = minuteMs;
const messagesOfTurn = 64;
/** Of an organization: those that failed before hold no more places of it. */
const maxFailing = 4;
/** Of an organization, in a look. A few may be taken already. */
const maxDue = 32;

export function openOutbox(services: Services, kinds: MessageKinds): DueWork {
  const { db, clock, log, metrics } = services;
  const paced = openPace(db);
  const background = new Background();
  const { signal } = background;
  const places = new Shares(shares.receivers);
  /** Organizations of which news become messages, and receivers that are sent to, in this process. */
  const making = new Set<string>();
  const sending = new Map<string, Receiver>();

  /** @returns true if there may be more to do */
  const make = async (organizationId: string): Promise<boolean> => {
    const turn = () => makeMessages(services, { kinds, paced, organizationId });
    let count = 0;
    do count = await laterWork.take(organizationId, turn, signal);
    while (count === newsOfTransaction && !signal.aborted);
    return count > 0;
  };

  /** @returns true if there may be more to do */
  const send = async (due: Receiver): Promise<boolean> => {
    const now = clock.now();
    const until = new Date(now.getTime() + takenMs);
    const taken = await paced(due.organizationId, (tx) => takeReceiverIfDue(tx, { ...due, now, until }));
    if (!taken) return false;
    const messages = await listDueMessages(db, { ...taken, now, limit: messagesOfTurn });
    const tries = await sendInOrder(services, { kinds, taken, messages, signal });
    const settled = await paced(due.organizationId, (tx) => settle(tx, kinds, taken, tries));
    for (const { kind, outcome } of settled) metrics.messages.inc({ kind, outcome });
    for (const kind of Object.values(kinds)) await kind.followed?.(services, tries);
    return true;
  };

  /** Runs in the background, and looks for more afterwards. */
  const start = (work: Promise<boolean>, facts: object, end: () => void) => {
    const logFailure = (error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, ...facts }, "messages were not sent; they will be");
      return false;
    };
    const endWork = (mayBeMore: boolean) => {
      end();
      if (mayBeMore) looks.wake();
    };
    background.add(work.catch(logFailure).then(endWork));
  };

  const startSending = (due: Receiver): boolean => {
    const { organizationId, receiver } = due;
    const key = `${organizationId} ${receiver}`;
    const place = sending.has(key) ? "owner" : places.take({ organization: organizationId });
    if (typeof place === "string") return place !== "all";
    sending.set(key, due);
    start(send(due), { organizationId, receiver }, () => {
      sending.delete(key);
      places.release(place);
    });
    return true;
  };

  /** This process has stored if it sends mails, for processes without the settings of the mail server. */
  let isMailSaid = false;
  const sayIfMailIsSent = async () => {
    if (isMailSaid) return;
    await db.transaction((tx) =>
      putMailIsSent(tx, kinds.mail !== undefined && services.mailer !== undefined),
    );
    isMailSaid = true;
  };

  const look = async () => {
    await sayIfMailIsSent();
    await visitNews(async ({ organizationId }) => {
      if (making.has(organizationId)) return "go on";
      making.add(organizationId);
      start(make(organizationId), { organizationId }, () => making.delete(organizationId));
      return "go on";
    });
    await visitReceivers(async ({ organizationId }) => {
      const now = clock.now();
      const list = (which: { isFailing: boolean; limit: number }) =>
        listDueReceivers(db, { organizationId, now, ...which });
      const own = [...sending.values()].filter((each) => each.organizationId === organizationId);
      const failing = own.filter(({ failures }) => failures > 0).length;
      const due = [
        ...(await list({ isFailing: false, limit: maxDue })),
        ...(await list({ isFailing: true, limit: Math.max(0, maxFailing - failing) })),
      ];
      return due.every(startSending) ? "go on" : "stop";
    });
    return false;
  };
  const looks = openLooks(services, look, [background]);
  const visitNews = openVisits((after) => findNextWithNews(db, after));
  const visitReceivers = openVisits((after) => findNextOwner(db, after));
  const stopListening = services.due.listen((due) => {
    if (due.some(({ kind }) => kind === "news")) looks.wake();
  });
  return {
    ...looks,
    async close() {
      stopListening();
      await looks.close();
      await background.close();
    },
  };
}
