import { setImmediate as nextTurn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import { openGatherer, pause } from "../sharing/gatherer.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export type Topic = `${"cluster" | "queue" | "pipeline" | "build" | "job" | "trigger" | "user"}:${string}`;

/** Events may be lost while Redis is away. Listeners read the row, and are called once it is back. */
export interface Events {
  /** Never throws, and does not wait. Events of a turn of the event loop are sent together. */
  publish(topics: Topic[]): void;
  /** @returns a function that ends the subscription */
  subscribe(topics: Topic[], listener: () => void): () => void;
  /** Sends what was published. */
  close(): Promise<void>;
}

/** A fan-out may change hundreds of builds. */
const maxTopics = 500;
/** A listener may write to a page and read from the database: 2,000 at once would hold the event loop for 200 ms. */
const caughtUpAtOnce = 20;
const catchUpPauseMs = 20;
/** ioredis replaces a connection that does not answer a ping. */
const pingEveryMs = 10 * secondMs;

/** @param connect opens the connection for subscriptions */
export function createEvents(options: {
  redis: Redis;
  connect: () => Redis;
  keys: RedisKeys;
  breaker: Breaker;
}): Events {
  const { redis, connect, keys, breaker } = options;
  const listeners = new Map<string, Set<() => void>>();
  let subscriber: Redis | undefined;
  let pings: NodeJS.Timeout | undefined;
  const published = openGatherer<Topic>({
    when: () => nextTurn(),
    keyOf: (topic) => topic,
    maxItems: maxTopics,
    overlaps: true,
    flush: (topics) => breaker.try(() => redis.publish(keys.events, topics.join(" "))),
  });

  const notify = (message: string) => {
    const notified = new Set(message.split(" ").flatMap((topic) => [...(listeners.get(topic) ?? [])]));
    for (const listener of notified) listener();
  };
  /** Listeners that wait are called once, however often Redis comes and goes. */
  const late = openGatherer<{ topic: string; listener: () => void }>({
    when: (_, hurry) => pause(catchUpPauseMs, hurry),
    keyOf: ({ listener }) => listener,
    maxItems: caughtUpAtOnce,
    flush: async (some) => {
      for (const { topic, listener } of some) if (listeners.get(topic)?.has(listener)) listener();
    },
  });
  /** For the events before it, which nobody heard. */
  const notifyAll = () => {
    for (const [topic, all] of listeners) for (const listener of all) late.put({ topic, listener });
  };
  const listen = () => {
    if (subscriber) return;
    subscriber = connect();
    subscriber.on("message", (_channel, message: string) => notify(message));
    pings = setInterval(() => subscriber?.ping().catch(() => {}), pingEveryMs);
    pings.unref();
    subscriber.on("ready", () => subscriber?.subscribe(keys.events).then(notifyAll, () => {}));
  };

  return {
    publish(topics) {
      for (const topic of topics) published.put(topic); // a command takes longer than its topics
    },

    subscribe(topics, listener) {
      listen();
      for (const topic of topics) {
        const all = listeners.get(topic) ?? new Set();
        listeners.set(topic, all.add(listener));
      }
      return () => {
        for (const topic of topics) {
          const all = listeners.get(topic);
          all?.delete(listener);
          if (all?.size === 0) listeners.delete(topic);
        }
      };
    },

    async close() {
      await published.flush();
      clearInterval(pings);
      subscriber?.disconnect();
    },
  };
}
