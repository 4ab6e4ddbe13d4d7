/** Makes every Redis key. `prefix` separates installations, and tests, that share a Redis. */
export function redisKeys(prefix: string) {
  return {
    /** A rate limit's window. `subject` is an id, never a secret. */
    window: (name: string, subject: string) => `${prefix}:window:${name}:${subject}`,
    /** Last poll and required interval of a subject. */
    pacing: (subject: string) => `${prefix}:pacing:${subject}`,
    /** Uses of access tokens that a worker has not stored yet. */
    usage: `${prefix}:usage`,
    /** Channel of events. */
    events: `${prefix}:events`,
    /** Prefix of BullMQ's keys. */
    jobs: `${prefix}:jobs`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;
