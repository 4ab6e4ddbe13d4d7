import { onServer } from "../../scratch/databases.ts";
import type { Installation } from "../installation/installation.ts";
import { between, pick } from "../random.ts";
import {
  commandRedis,
  disturbLink,
  listPostgres,
  signalIfThere,
  signalProcess,
  signalServer,
} from "./acts.ts";
import { type Fault, faultOf } from "./fault.ts";

const days = 24 * 3600;
/** Seconds. An ingress process that is a day ahead forgets idempotency keys, as it should. */
const jumps = { ingress: [-3600, -90, -8, 8, 90, 3600], worker: [-8 * days, -90, -8, 8, 90, 8 * days] };
/** Neither end of a silent link hears anything for this long. */
const silentMs = 30_000;
const terminateSome = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = 'signalbox' AND pid <> pg_backend_pid() AND pid % $1 = 0`;

const onSqlite = ({ postgres }: Installation) => (postgres ? undefined : "the database is SQLite");
const nothing = { ms: 0, undo() {} };

const loseRedis: Fault["inject"] = async (installation, random) => {
  const killed = await signalServer("redis", ["SIGKILL"])(installation, random);
  if (killed) installation.redis.loseData();
  return killed;
};

const freezePostgres: Fault["inject"] = async (installation, random) => {
  const ms = between(random, 300, 3000);
  const pids = listPostgres(installation).map(({ pid }) => pid);
  for (const pid of pids) signalIfThere(pid, "SIGSTOP");
  // Backends outlive a server that is killed meanwhile.
  const undo = () => {
    for (const pid of pids) signalIfThere(pid, "SIGCONT");
  };
  return pids.length > 0 ? { target: "postgres", lasting: { ms, undo } } : undefined;
};

const terminateBackends: Fault["inject"] = async ({ postgres }, random) => {
  const every = 1 + random(3);
  await onServer(postgres?.url ?? "", (client) => client.query(terminateSome, [every]));
  return { target: every === 1 ? "all backends" : `one backend in ${every}` };
};

const killBackend: Fault["inject"] = async (installation, random) => {
  const drawn = random(1000);
  const [, ...backends] = listPostgres(installation);
  const backend = backends[drawn % backends.length];
  if (!backend) return undefined;
  signalIfThere(backend.pid, "SIGKILL");
  return { target: `postgres, process ${backend.pid}` };
};

const fillDisk: Fault["inject"] = async ({ disk }, random) => {
  const ms = between(random, 500, 4000);
  disk.fill();
  return { target: "disk", lasting: { ms, undo: () => disk.free() } };
};

const moveClock: Fault["inject"] = async ({ clocks, processes }, random) => {
  const target = pick(
    random,
    processes.names.filter((name) => !name.startsWith("agent")),
  );
  const jump = pick(random, target.startsWith("ingress") ? jumps.ingress : jumps.worker);
  const ms = between(random, 1000, 6000);
  clocks.move(target, jump);
  return { target: `${target}, ${jump} s`, lasting: { ms, undo: () => clocks.move(target, 0) } };
};

const cut = disturbLink((proxy) => {
  proxy.cut();
  return nothing;
});

const refuse = disturbLink((proxy, random) => {
  const ms = between(random, 300, 4000);
  proxy.refuse();
  proxy.cut();
  return { ms, undo: () => proxy.accept() };
});

const delay = disturbLink((proxy, random) => {
  const delayMs = between(random, 20, 700);
  const ms = between(random, 500, 4000);
  proxy.delay(delayMs);
  return { ms, undo: () => proxy.delay(0), words: `, ${delayMs} ms` };
});

const silence = disturbLink((proxy) => {
  proxy.silence();
  return { ms: silentMs, undo: () => proxy.endSilent() };
});

const ofProcesses = "an ingress process, worker or agent";
/** By SIGTERM Postgres would wait for connections. */
const shutdowns: NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
const freeze = signalProcess("SIGSTOP", [300, 10_000]);
const [killRedis, restartRedis] = [signalServer("redis", ["SIGKILL"]), signalServer("redis", ["SIGTERM"])];
const freezeRedis = signalServer("redis", ["SIGSTOP"], [300, 3000]);
const endClients = commandRedis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
const [killPostgres, stopPostgres] = [
  signalServer("postgres", ["SIGKILL"]),
  signalServer("postgres", shutdowns),
];
const ofPostgres: [kind: string, weight: number, summary: string, inject: Fault["inject"]][] = [
  ["postgres-kill", 1, "kill -9 of the Postgres server", killPostgres],
  ["postgres-restart", 1, "fast or immediate shutdown; Postgres starts again a second later", stopPostgres],
  ["postgres-freeze", 2, "SIGSTOP of the server and its backends, SIGCONT after 0.3 to 3 s", freezePostgres],
  ["terminate-backends", 6, "pg_terminate_backend of all, every second or third", terminateBackends],
  ["kill-backend", 1, "kill -9 of one backend: Postgres ends all others and recovers", killBackend],
];
const fullDisk = "the disk of the database and of Redis is full for 0.5 to 4 s";
const wrongClock =
  "the clock of an ingress process is 8 s to an hour wrong, of a worker 8 s to 8 days, for 1 to 6 s";

export const allFaults: Fault[] = [
  faultOf("kill", 4, `kill -9 of ${ofProcesses}`, signalProcess("SIGKILL")),
  faultOf("terminate", 2, `SIGTERM to ${ofProcesses}, as a restart sends it`, signalProcess("SIGTERM")),
  faultOf("freeze", 4, `SIGSTOP of ${ofProcesses}, SIGCONT after 0.3 to 10 s`, freeze),
  faultOf("redis-kill", 1, "kill -9 of Redis", killRedis),
  faultOf("redis-restart", 1, "SIGTERM to Redis, which starts again a second later", restartRedis),
  faultOf("redis-freeze", 2, "SIGSTOP of Redis, SIGCONT after 0.3 to 3 s", freezeRedis),
  faultOf("redis-flush", 2, "FLUSHALL", commandRedis("FLUSHALL")),
  faultOf("redis-loss", 1, "kill -9 of Redis, which comes back without its data", loseRedis),
  faultOf("redis-clients", 2, "CLIENT KILL of all connections of Redis", endClients),
  ...ofPostgres.map((row) => faultOf(...row, onSqlite)),
  faultOf("cut", 10, "reset of all connections of a link", cut),
  faultOf("refuse", 4, "reset of a link's connections; new ones are refused for 0.3 to 4 s", refuse),
  faultOf("delay", 5, "20 to 700 ms for each chunk of a link, for 0.5 to 4 s", delay),
  faultOf("silence", 3, "the connections of a link carry nothing more, and stay open for 30 s", silence),
  faultOf("full-disk", 1, fullDisk, fillDisk, ({ disk }) => disk.cannotFill),
  faultOf("clock", 3, wrongClock, moveClock, ({ clocks }) => clocks.cannotMove),
];
