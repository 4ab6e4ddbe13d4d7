import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import type { Message, MessageKinds, Verdict } from "./kind.ts";
import type { Try } from "./send.ts";
import {
  deleteReceiver,
  failOldMessages,
  findNextDue,
  forgetOldRequests,
  lockReceiver,
  type Receiver,
  updateMessageIfSame,
  updateReceiver,
} from "./store.ts";
import { nextTry } from "./verdict.ts";

/** A message that is not sent within this time fails. */
const givesUpAfterMs = dayMs;
/** Messages that one transaction gives up. */
const maxGivenUp = 1000;
/** Of a service, with their bodies. */
const keptRequests = 20;

/** Of a message whose try is stored. */
export interface Settled extends Pick<Message, "kind"> {
  outcome: "sent" | "again" | "failed" | "dropped";
}

/** Stores how tries went, and when the receiver is due again. */
export async function settle(
  tx: Tx,
  kinds: MessageKinds,
  taken: Receiver,
  given: readonly Try[],
): Promise<Settled[]> {
  const { now } = tx;
  const receiver = await lockReceiver(tx, taken);
  const tries = isMadeDue(receiver, taken) ? given.map(withoutFailure) : given;
  const settled: Settled[] = [];
  for (const each of tries) settled.push(await settleTry(tx, kinds, each));
  const serviceIds = tries.flatMap(
    ({ message, change }) => (change.request?.body && message.serviceId) || [],
  );
  for (const id of new Set(serviceIds)) await forgetOldRequests(tx, id, keptRequests);
  // Another process has it if this one was stopped for long.
  if (receiver?.takenUntil?.getTime() !== taken.takenUntil?.getTime()) return settled;

  const resting = tries.find(({ verdict }) => verdict?.outcome === "receiver_rests");
  if (resting) {
    const before = new Date(now.getTime() - givesUpAfterMs);
    const old = await failOldMessages(tx, taken, { before, now, limit: maxGivenUp });
    settled.push(...old.map(({ kind }) => ({ kind, outcome: "failed" as const })));
  }
  const next = await findNextDue(tx, taken);
  if (!next) await deleteReceiver(tx, taken);
  else if (resting) await updateReceiver(tx, taken, { takenUntil: null, ...restOf(resting, taken, now) });
  else
    await updateReceiver(tx, taken, {
      takenUntil: null,
      dueAt: next,
      ...(tries.length > 0 && { failures: 0, failingSince: null, problem: null }),
    });
  return settled;
}

/** Somebody saved another address or token meanwhile, or wants it to be asked again. */
function isMadeDue(receiver: Receiver | undefined, taken: Receiver): boolean {
  return receiver !== undefined && receiver.dueAt.getTime() !== taken.dueAt.getTime();
}

/** A failure under former settings counts as no try: the message is sent again at once. */
function withoutFailure(each: Try): Try {
  const rests = each.verdict?.outcome === "receiver_rests" || each.verdict?.outcome === "message_rests";
  return rests ? { message: each.message, verdict: again, isUntried: true, change: {} } : each;
}

const again: Verdict = { outcome: "message_rests", problem: "" };

function restOf({ verdict, isUntried }: Try, taken: Receiver, now: Date): Partial<Receiver> {
  const { problem, until } = verdict as Extract<Verdict, { outcome: "receiver_rests" }>;
  if (isUntried) return { problem, dueAt: nextTry(taken.failures, now, until) };
  const failures = taken.failures + 1;
  return { failures, failingSince: taken.failingSince ?? now, problem, dueAt: nextTry(failures, now, until) };
}

async function settleTry(
  tx: Tx,
  kinds: MessageKinds,
  { message, verdict, answer, isUntried, change }: Try,
): Promise<Settled> {
  const { now } = tx;
  const { kind } = message;
  if (answer) await kinds[kind]?.answered?.(tx, message, answer);
  const end = (state: "sent" | "failed" | "dropped"): Promise<void> =>
    updateMessageIfSame(tx, message, { ...change, state, endedAt: now });
  if (!verdict) {
    await end("dropped");
    return { kind, outcome: "dropped" };
  }
  if (verdict.outcome === "sent") {
    await end("sent");
    return { kind, outcome: "sent" };
  }
  if (isUntried) return { kind, outcome: "again" };
  const tries = message.tries + 1;
  const isTooOld = now.getTime() - message.createdAt.getTime() >= givesUpAfterMs;
  if (verdict.outcome === "failed" || isTooOld) {
    await end("failed");
    return { kind, outcome: "failed" };
  }
  const dueAt = verdict.outcome === "message_rests" ? nextTry(tries, now, verdict.until) : message.dueAt;
  await updateMessageIfSame(tx, message, { ...change, tries, dueAt });
  return { kind, outcome: "again" };
}
