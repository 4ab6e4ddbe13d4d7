import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export type Topic = `${"cluster" | "queue" | "pipeline" | "build" | "job" | "trigger" | "user"}:${string}`;

/** Events may be lost. Listeners read the row. */
export interface Events {
  /** Never throws, and does not wait. Events of a turn of the event loop are sent together. */
  publish(topics: Topic[]): void;
  /** @returns a function that ends the subscription */
  subscribe(topics: Topic[], listener: () => void): () => void;
  /** Sends what was published. */
  close(): void;
}

/** A fan-out may change hundreds of builds. */
const maxTopics = 500;
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
  const published = new Set<Topic>();

  const send = () => {
    const topics = [...published];
    published.clear();
    for (let i = 0; i < topics.length; i += maxTopics) {
      const message = topics.slice(i, i + maxTopics).join(" ");
      void breaker.try(() => redis.publish(keys.events, message));
    }
  };

  const notify = (message: string) => {
    const notified = new Set(message.split(" ").flatMap((topic) => [...(listeners.get(topic) ?? [])]));
    for (const listener of notified) listener();
  };
  const listen = () => {
    if (subscriber) return;
    subscriber = connect();
    subscriber.on("message", (_channel, message: string) => notify(message));
    pings = setInterval(() => subscriber?.ping().catch(() => {}), pingEveryMs);
    pings.unref();
    subscriber.subscribe(keys.events).catch(() => {}); // ioredis subscribes again when Redis is back
  };

  return {
    publish(topics) {
      // A command takes longer than its topics.
      if (published.size === 0 && topics.length > 0) setImmediate(send);
      for (const topic of topics) published.add(topic);
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

    close() {
      send();
      clearInterval(pings);
      subscriber?.disconnect();
    },
  };
}
