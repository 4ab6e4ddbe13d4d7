import { onServer } from "../../../bench/databases.ts";
import { type Fault, withoutPostgres } from "../fault.ts";

const terminateSome = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = 'signalbox' AND pid <> pg_backend_pid() AND pid % $1 = 0`;

export const terminateBackends: Fault = {
  kind: "terminate-backends",
  summary: "pg_terminate_backend of all connections, or of every second or third",
  weight: 6,
  missing: withoutPostgres,
  async inject({ postgres }, random) {
    const every = 1 + random(3);
    if (!postgres) return undefined;
    await onServer(postgres.url, (client) => client.query(terminateSome, [every]));
    return { target: every === 1 ? "all backends" : `one backend in ${every}` };
  },
};
