import { pick } from "../../random.ts";
import { type Fault, withoutPostgres } from "../fault.ts";

/** Smart shutdown would wait for connections. */
const shutdowns: NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

export const postgresRestart: Fault = {
  kind: "postgres-restart",
  summary: "fast or immediate shutdown of Postgres, which starts again a second later",
  weight: 1,
  missing: withoutPostgres,
  async inject({ servers }, random) {
    const signal = pick(random, shutdowns);
    if (servers.pidOf("postgres") === undefined) return undefined;
    servers.signal("postgres", signal);
    return { target: `postgres, ${signal}` };
  },
};
