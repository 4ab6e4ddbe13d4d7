/** The private Redis of `npm start` listens here. Processes started by hand in the same folder find it. */
export const privateRedisSocket = "data/redis.sock";
