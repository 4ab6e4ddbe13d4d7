import { onServer } from "../../scratch/databases.ts";
import { listProcesses, type Process, treeOf } from "../../scratch/process-tree.ts";
import type { Installation } from "../installation/installation.ts";
import { between, pick } from "../random.ts";
import { type Fault, signalServer } from "./fault.ts";

/** Smart shutdown would wait for connections. */
const shutdowns: NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
const terminateSome = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = 'signalbox' AND pid <> pg_backend_pid() AND pid % $1 = 0`;

const missing = ({ postgres }: Installation) => (postgres ? undefined : "the database is SQLite");

export const postgresFaults: Fault[] = [
  {
    kind: "postgres-kill",
    summary: "kill -9 of the Postgres server",
    weight: 1,
    missing,
    inject: async ({ servers }) => signalServer(servers, "postgres", "SIGKILL"),
  },
  {
    kind: "postgres-restart",
    summary: "fast or immediate shutdown of Postgres, which starts again a second later",
    weight: 1,
    missing,
    async inject({ servers }, random) {
      const signal = pick(random, shutdowns);
      return signalServer(servers, "postgres", signal) && { target: `postgres, ${signal}` };
    },
  },
  {
    kind: "postgres-freeze",
    summary: "SIGSTOP of the Postgres server and its backends, SIGCONT after 0.3 to 3 s",
    weight: 2,
    missing,
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
  },
  {
    kind: "terminate-backends",
    summary: "pg_terminate_backend of all connections, or of every second or third",
    weight: 6,
    missing,
    async inject({ postgres }, random) {
      const every = 1 + random(3);
      if (!postgres) return undefined;
      await onServer(postgres.url, (client) => client.query(terminateSome, [every]));
      return { target: every === 1 ? "all backends" : `one backend in ${every}` };
    },
  },
  {
    kind: "kill-backend",
    summary: "kill -9 of one backend: Postgres ends all others and recovers",
    weight: 1,
    missing,
    async inject(installation, random) {
      const drawn = random(1000);
      const [, ...backends] = postgresProcesses(installation);
      const backend = backends[drawn % backends.length];
      if (!backend) return undefined;
      signalIfThere(backend.pid, "SIGKILL");
      return { target: `postgres, process ${backend.pid}` };
    },
  },
];

/** The server's process, then those of its connections and of its own work. None while it is down. */
function postgresProcesses({ servers }: Installation): Process[] {
  const pid = servers.pidOf("postgres");
  return pid === undefined ? [] : treeOf(pid, listProcesses());
}

/** A process may have ended meanwhile. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
