import { between } from "../../random.ts";
import { type Fault, withoutPostgres } from "../fault.ts";
import { postgresProcesses, signalIfThere } from "./backends.ts";

export const postgresFreeze: Fault = {
  kind: "postgres-freeze",
  summary: "SIGSTOP of the Postgres server and its backends, SIGCONT after 0.3 to 3 s",
  weight: 2,
  missing: withoutPostgres,
  async inject(installation, random) {
    const ms = between(random, 300, 3000);
    const pids = postgresProcesses(installation).map(({ pid }) => pid);
    for (const pid of pids) signalIfThere(pid, "SIGSTOP");
    // Backends outlive a server that is killed meanwhile.
    const undo = () => {
      for (const pid of pids) signalIfThere(pid, "SIGCONT");
    };
    return pids.length > 0 ? { target: "postgres", lasting: { ms, undo } } : undefined;
  },
};
