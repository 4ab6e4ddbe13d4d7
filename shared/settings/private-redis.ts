/** `npm start` listens here; processes started by hand find it. */
export const privateRedisSocket = "data/redis.sock";
