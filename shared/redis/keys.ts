/** Every Redis key is made here. `prefix` keeps installations, and tests, that share a Redis apart. */
export function redisKeys(prefix: string) {
  return {
    /** One sliding window: `name` says of what, `subject` of whom (an id, never a secret). */
    window: (name: string, subject: string) => `${prefix}:window:${name}:${subject}`,
    /** What BullMQ puts before the names of its own keys. */
    jobs: `${prefix}:jobs`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;
