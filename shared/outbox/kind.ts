import type { Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import type { News } from "../news/store.ts";
import type { OutgoingRequest } from "../outgoing/outgoing.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import type { Services } from "../services/services.ts";
import type { MessageKindName } from "../vocabulary.ts";
import type { MessageTurn } from "./turn.ts";

export type Message = Tables["outbox"]["$inferSelect"];

/** States of messages that operators may change. */
export const openStates = ["waiting", "failed"] as const;
export type OpenState = (typeof openStates)[number];

/** A message to be written. What is left out is null. */
export type NewMessage = Pick<Message, "receiver" | "event"> &
  Partial<Pick<Message, "serviceId" | "connectionId" | "buildId" | "jobId" | "agentId" | "topic" | "target">>;

/** The part of sending that messages of a kind have of their own. The outbox does the rest: order, shares, repetition, time. */
export interface MessageKind {
  /**
   * Makes messages of news of an organization, oldest first. Reads rows and changes none: the transaction writes the
   * messages and deletes the news. It may run again after a lost race.
   */
  messagesOf(tx: Tx, services: Services, news: News[]): Promise<NewMessage[]>;
  /**
   * Makes what is sent, from the present rows. It may run several times for a message.
   * @returns undefined: nothing is left to say
   */
  prepare(services: Services, message: Message, turn: MessageTurn): Promise<Prepared | Rest | undefined>;
  /** Says what an answer means. Default: `judge` of verdict.ts. */
  judge?(answer: OutgoingAnswer, now: Date): Verdict;
  /** Called for each try that was answered, in the transaction that stores how it went. */
  answered?(tx: Tx, message: Message, answer: OutgoingAnswer): Promise<void>;
  /** Called for the tries of a turn, of any kind, once it is stored how they went. They have one receiver. */
  followed?(services: Services, tries: readonly Tried[]): Promise<void>;
}

/** A try and its outcome. */
export interface Tried {
  message: Message;
  /** Absent: nothing was left to say. */
  verdict?: Verdict;
  /** Nothing was sent, and it counts as no failure. */
  isUntried?: true;
}

export type MessageKinds = Partial<Record<MessageKindName, MessageKind>>;

export type Prepared = PreparedRequest | PreparedMail;

export interface PreparedRequest {
  request: OutgoingRequest;
  /** Keeps the beginning of the body, for those who may see it. */
  keepsBody?: true;
}

export interface PreparedMail {
  /** Of the receiver. */
  host: string;
  send(): Promise<Verdict | Rest>;
}

/** Nothing is sent now: the receiver rests, and the message counts no try. */
export interface Rest {
  rest: Date;
  problem: string;
}

/** The outcome of a try. A problem is a sentence for people, without secrets. */
export type Verdict =
  | { outcome: "sent" }
  /** The receiver rests with all of its messages. */
  | { outcome: "receiver_rests"; problem: string; until?: Date }
  /** This message rests, and others go on. */
  | { outcome: "message_rests"; problem: string; until?: Date }
  /** It is not tried again by itself. */
  | { outcome: "failed"; problem: string };
