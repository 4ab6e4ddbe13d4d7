/** Every Redis key is made here. `prefix` keeps installations, and tests, that share a Redis apart. */
export function redisKeys(prefix: string) {
  return {
    /** One sliding window: `name` says of what, `subject` of whom (an id, never a secret). */
    window: (name: string, subject: string) => `${prefix}:window:${name}:${subject}`,
    /** When something was last polled, and the interval that it has to keep. */
    pacing: (subject: string) => `${prefix}:pacing:${subject}`,
    /** Uses of access tokens that a worker has not written to the database yet. */
    usage: `${prefix}:usage`,
    /** Channel on which processes tell each other what changed. */
    events: `${prefix}:events`,
    /** What BullMQ puts before the names of its own keys. */
    jobs: `${prefix}:jobs`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;
