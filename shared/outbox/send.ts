import { stripControls } from "../control-characters.ts";
import { minuteMs, secondMs } from "../durations.ts";
import { OutgoingProblem } from "../outgoing/problem.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import type { Services } from "../services/services.ts";
import { Outage } from "../sharing/gatherer.ts";
import type {
  Message,
  MessageKind,
  MessageKinds,
  PreparedMail,
  PreparedRequest,
  Rest,
  Tried,
  Verdict,
} from "./kind.ts";
import type { Receiver } from "./store.ts";
import { inMessageTurn, type MessageTurn, NoRoom, openTurn } from "./turn.ts";
import { judge } from "./verdict.ts";

/** A try as it is stored. */
export interface Try extends Tried {
  /** Absent: there was none. */
  answer?: OutgoingAnswer;
  change: Partial<Message>;
}

/** Builds whose messages are sent to a receiver at once. */
const linesAtOnce = 4;
/** The receiver is taken for a minute, and the last message may take half of it. */
const startsWithinMs = 15 * secondMs;
const maxAnswerCharacters = 1000;
const maxKeptBody = 64 * 1024;
/** A worker of another version knows the kind. */
const unknownRestMs = minuteMs;

interface Sending {
  kinds: MessageKinds;
  taken: Receiver;
  messages: Message[];
  /** Begins no further message. */
  signal: AbortSignal;
}

/**
 * Sends messages to a receiver: those of a build one after the other, those of several builds beside each other. It stops
 * once the receiver has to rest, or something fails that they need.
 * @throws the failure, if there was no try
 */
export async function sendInOrder(
  services: Services,
  { kinds, taken: { failures, receiver }, messages, signal }: Sending,
): Promise<Try[]> {
  const tries: Try[] = [];
  const startedAt = performance.now();
  const turn = openTurn();
  let isOver = false;
  const lines = Map.groupBy(messages, ({ buildId, agentId, id }) => buildId ?? agentId ?? id).values();
  const sendLines = async () => {
    for (const line of lines)
      for (const message of line) {
        if (isOver || signal.aborted || performance.now() - startedAt > startsWithinMs) return;
        const done = await inMessageTurn(turn, message.organizationId, (own) =>
          attempt(services, kinds, message, own),
        ).catch(undefinedWithoutRoom);
        if (!done) return;
        tries.push(done);
        isOver ||= done.verdict?.outcome === "receiver_rests";
      }
  };
  // One that failed is asked by one message first.
  const atOnce = failures > 0 ? 1 : linesAtOnce;
  const stopOthers = (error: unknown) => {
    isOver = true;
    throw error;
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, () => sendLines().catch(stopOthers)));
  const failed = ends.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
  if (!failed) return tries;
  if (tries.length === 0) throw failed.reason;
  // Messages that were tried are not sent again.
  services.log.warn({ err: failed.reason, receiver }, "some messages were not sent; they will be");
  return tries;
}

function undefinedWithoutRoom(error: unknown): undefined {
  if (!(error instanceof NoRoom)) throw error;
}

/** A failure that nobody expects lets the message rest, so that it ends after a day. @throws Outage, NoRoom */
async function attempt(
  services: Services,
  kinds: MessageKinds,
  message: Message,
  turn: MessageTurn,
): Promise<Try> {
  const kind = kinds[message.kind];
  const now = services.clock.now();
  if (!kind)
    return restOf(message, { rest: new Date(now.getTime() + unknownRestMs), problem: "Not known here" });
  let step: "made" | "sent" = "made";
  try {
    const prepared = await kind.prepare(services, message, turn);
    if (!prepared) return { message, change: { answer: "Nothing was left to say" } };
    if ("rest" in prepared) return restOf(message, prepared);
    step = "sent";
    const startedAt = performance.now();
    const done = await ("send" in prepared
      ? sendMail(message, prepared)
      : sendRequest(services, message, { ...prepared, judge: kind.judge?.bind(kind) ?? judge }));
    const durationMs = Math.round(performance.now() - startedAt);
    return { ...done, change: { ...done.change, durationMs } };
  } catch (error) {
    if (error instanceof Outage || error instanceof NoRoom) throw error;
    services.log.error(
      { err: error, messageId: message.id, kind: message.kind },
      `a message could not be ${step}`,
    );
    const verdict: Verdict = { outcome: "message_rests", problem: `It could not be ${step}` };
    return { message, verdict, change: { answer: verdict.problem, answerStatus: null } };
  }
}

function restOf(message: Message, { rest, problem }: Rest): Try {
  const verdict: Verdict = { outcome: "receiver_rests", problem, until: rest };
  return { message, verdict, isUntried: true, change: {} };
}

async function sendMail(message: Message, { host, send }: PreparedMail): Promise<Try> {
  const verdict = await send();
  if ("rest" in verdict) return restOf(message, verdict);
  const answer = "problem" in verdict ? clean(verdict.problem) : null;
  return { message, verdict, change: { request: { method: "SEND", host, bytes: 0 }, answer } };
}

async function sendRequest(
  { outgoing, clock }: Services,
  message: Message,
  { request, keepsBody, judge }: PreparedRequest & Required<Pick<MessageKind, "judge">>,
): Promise<Try> {
  const { method, url, body = "" } = request;
  const kept = {
    method,
    host: URL.parse(url)?.host ?? "",
    bytes: Buffer.byteLength(body),
    ...(keepsBody && { body: body.slice(0, maxKeptBody) }),
  };
  try {
    const answer = await outgoing.send(request);
    const verdict = judge(answer, clock.now());
    const { status, text } = answer;
    return { message, verdict, answer, change: { request: kept, answerStatus: status, answer: clean(text) } };
  } catch (error) {
    if (!(error instanceof OutgoingProblem)) throw error;
    const verdict: Verdict = { outcome: "receiver_rests", problem: error.message };
    return { message, verdict, change: { request: kept, answerStatus: null, answer: clean(error.message) } };
  }
}

/** Makes a line of the beginning of a text, which terminals and pages need not obey. */
function clean(text: string): string {
  return stripControls(text.slice(0, maxAnswerCharacters), " ").toWellFormed();
}
