/** `prefix` separates installations that share a Redis. */
export function redisKeys(prefix: string) {
  return {
    /** `subject` is an id, never a secret. */
    window: (name: string, subject: string) => `${prefix}:window:${name}:${subject}`,
    /** Last poll and required interval. */
    pacing: (subject: string) => `${prefix}:pacing:${subject}`,
    usage: `${prefix}:usage`,
    sample: (subject: string) => `${prefix}:sample:${subject}`,
    /** Descriptions of processes by when they last reported. */
    processes: `${prefix}:processes`,
    /** The key of a write that checks that Redis takes writes. */
    check: `${prefix}:check`,
    /** All keys, as a pattern. */
    all: `${prefix}:*`,
    /** The mark never expires: when it is gone, Redis has lost its data. */
    mark: `${prefix}:mark`,
    events: `${prefix}:events`,
    jobs: `${prefix}:jobs`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;
