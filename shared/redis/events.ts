import type { Redis } from "ioredis";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

/** What somebody may watch: `cluster:<id>`, `queue:<id>`, `pipeline:<id>`, `build:<id>` or `trigger:<id>`. */
export type Topic = `${"cluster" | "queue" | "pipeline" | "build" | "trigger"}:${string}`;

/**
 * News that something changed, from whichever process to whoever watches it, in whichever process. A piece of news
 * says only what changed, not how: who hears it looks for itself. Some may be lost, with Redis or a connection.
 */
export interface Events {
  /** Tell all processes. Never throws, and is not waited for. */
  publish(topics: Topic[]): void;
  /** Hear of these topics until the returned function is called. */
  subscribe(topics: Topic[], listener: () => void): () => void;
  close(): void;
}

/** How many topics one message names: a fan-out may have changed hundreds of builds. */
const topicsAtOnce = 500;

/** @param connect opens a connection of its own for listening, at the first subscription */
export function createEvents(options: {
  redis: Redis;
  connect: () => Redis;
  keys: RedisKeys;
  breaker: Breaker;
}): Events {
  const { redis, connect, keys, breaker } = options;
  const listeners = new Map<string, Set<() => void>>();
  let subscriber: Redis | undefined;

  const hear = (message: string) => {
    const heard = new Set(message.split(" ").flatMap((topic) => [...(listeners.get(topic) ?? [])]));
    for (const listener of heard) listener();
  };
  const listen = () => {
    if (subscriber) return;
    subscriber = connect();
    subscriber.on("message", (_channel, message: string) => hear(message));
    subscriber.subscribe(keys.events).catch(() => {}); // it subscribes again by itself whenever Redis is back
  };

  return {
    publish(topics) {
      const distinct = [...new Set(topics)];
      for (let i = 0; i < distinct.length; i += topicsAtOnce) {
        const message = distinct.slice(i, i + topicsAtOnce).join(" ");
        void breaker.attempt(() => redis.publish(keys.events, message));
      }
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
      subscriber?.disconnect();
    },
  };
}
