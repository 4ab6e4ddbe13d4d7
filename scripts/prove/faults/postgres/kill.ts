import { type Fault, withoutPostgres } from "../fault.ts";

export const postgresKill: Fault = {
  kind: "postgres-kill",
  summary: "kill -9 of the Postgres server",
  weight: 1,
  missing: withoutPostgres,
  async inject({ servers }) {
    if (servers.pidOf("postgres") === undefined) return undefined;
    servers.signal("postgres", "SIGKILL");
    return { target: "postgres" };
  },
};
