import { type Fault, withoutPostgres } from "../fault.ts";
import { postgresProcesses, signalIfThere } from "./backends.ts";

export const killBackend: Fault = {
  kind: "kill-backend",
  summary: "kill -9 of one backend: Postgres ends all others and recovers",
  weight: 1,
  missing: withoutPostgres,
  async inject(installation, random) {
    const drawn = random(1000);
    const [, ...backends] = postgresProcesses(installation);
    const backend = backends[drawn % backends.length];
    if (!backend) return undefined;
    signalIfThere(backend.pid, "SIGKILL");
    return { target: `postgres, process ${backend.pid}` };
  },
};
