import { listProcesses, threadMicroseconds, treeOf } from "./process-tree.ts";

/** Pids by process name. Descendants count too. */
export type Pids = Record<string, number>;

/** CPU microseconds by process name; NaN where the kernel does not say. */
export type CpuTimes = Record<string, number>;

export async function withCpuTimes<T>(
  pids: Pids,
  work: () => Promise<T>,
): Promise<{ result: T; cpu: CpuTimes }> {
  const before = readCpuTimes(pids);
  const result = await work();
  const after = readCpuTimes(pids);
  const cpu = Object.entries(after).map(([name, time]) => [name, time - (before[name] ?? 0)]);
  return { result, cpu: Object.fromEntries(cpu) };
}

function readCpuTimes(pids: Pids): CpuTimes {
  const all = listProcesses();
  const timeOf = (pid: number) => {
    const tree = treeOf(pid, all);
    if (tree.length === 0) return Number.NaN;
    return tree.reduce((sum, each) => sum + threadMicroseconds(each.pid), 0);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, timeOf(pid)]));
}
