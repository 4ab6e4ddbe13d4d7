import { onServer } from "../../scratch/databases.ts";
import { listProcesses, threadMicroseconds, treeOf } from "../../scratch/process-tree.ts";

/** Pids by process name. Descendants count too. */
export type Pids = Record<string, number>;

/** For its CPU time. Empty if Postgres runs elsewhere. */
export async function findPostgres(server: string | undefined): Promise<Pids> {
  if (server === undefined) return {};
  return onServer(server, async (client): Promise<Pids> => {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const backend = listProcesses().find(({ pid, name }) => pid === rows[0]?.pid && name === "postgres");
    return backend ? { Postgres: backend.parentPid } : {};
  });
}

/** CPU microseconds by process name; NaN where the kernel does not say. */
export type CpuTimes = Record<string, number>;

/** Leaves out processes that end meanwhile, such as the vacuum of Postgres: what they used is no longer known. */
async function withCpuTimes<T>(pids: Pids, work: () => Promise<T>): Promise<{ result: T; cpu: CpuTimes }> {
  const before = readCpuTimes(pids);
  const result = await work();
  const used = [...readCpuTimes(pids)].map(([name, times]) => {
    const since = [...times].map(([pid, time]) => time - (before.get(name)?.get(pid) ?? 0));
    return [name, since.length === 0 ? Number.NaN : since.reduce((sum, each) => sum + each)];
  });
  return { result, cpu: Object.fromEntries(used) };
}

/** Adds the CPU time of one accepted request. */
export async function cpuPerRequest<T extends { accepted: number }>(
  pids: Pids,
  work: () => Promise<T>,
): Promise<T & { cpu: CpuTimes }> {
  const { result, cpu } = await withCpuTimes(pids, work);
  const each = Object.entries(cpu).map(([name, time]) => [name, time / result.accepted]);
  return { ...result, cpu: Object.fromEntries(each) };
}

/** Microseconds of each process of a tree, by the name of the tree. */
function readCpuTimes(pids: Pids): Map<string, Map<number, number>> {
  const all = listProcesses();
  const timesOf = (root: number) =>
    new Map(treeOf(root, all).map(({ pid }) => [pid, threadMicroseconds(pid)]));
  return new Map(Object.entries(pids).map(([name, root]) => [name, timesOf(root)]));
}
