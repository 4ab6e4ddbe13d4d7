import { readdirSync, readFileSync } from "node:fs";

/** A process as Linux shows it. */
export interface Process {
  pid: number;
  parentPid: number;
  name: string;
  /** Includes ended children. The kernel counts in steps of 10 ms. */
  cpuMs: number;
}

/** /proc counts in 1/100 s on all platforms of Node. */
const tickMs = 10;

/** None without /proc. */
export function listProcesses(): Process[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid)) ?? []);
}

/** Returns a process and its descendants. */
export function treeOf(rootPid: number, all: Process[]): Process[] {
  const children = Map.groupBy(all, ({ parentPid }) => parentPid);
  const tree = all.filter(({ pid }) => pid === rootPid);
  for (const { pid } of tree) tree.push(...(children.get(pid) ?? [])); // grows while it is walked
  return tree;
}

/** Exact to the last switch between threads. */
export function threadMicroseconds(pid: number): number {
  const nanoseconds = namesIn(`/proc/${pid}/task`).map((thread) =>
    Number(readIfPresent(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ")[0] ?? 0),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
}

/** Returns a figure of `/proc/<pid>/status`, such as VmRSS; 0 once the process has ended. */
export function kilobytesOf(pid: number, field: string): number {
  const status = readIfPresent(`/proc/${pid}/status`) ?? "";
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
}

function readProcess(pid: number): Process | undefined {
  const [, name = "", rest = ""] = /\((.*)\) (.*)/s.exec(readIfPresent(`/proc/${pid}/stat`) ?? "") ?? [];
  const fields = rest.split(" ").map(Number); // from the third on: proc(5)
  if (rest === "") return undefined;
  const cpuTicks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
  return { pid, parentPid: fields[1] ?? 0, name, cpuMs: cpuTicks * tickMs };
}

/** Processes may end at any time. */
export function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
