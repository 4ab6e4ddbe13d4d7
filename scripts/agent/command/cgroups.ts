import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The limits of one job. */
export interface Limits {
  cpu: number;
  memoryGb: number;
}

const periodUs = 100_000;
const gigabyte = 1024 ** 3;
const ownGroup = "agent";

/** Control groups (cgroup v2) for jobs, under a group that belongs to the agent. */
export class Cgroups {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * Prepares the group, by default the agent's own.
   * @throws with the reason why limits cannot be enforced
   */
  static open(root = findOwnGroup()): Cgroups {
    const controllers = readFileSync(join(root, "cgroup.controllers"), "utf8").trim().split(" ");
    const missing = ["cpu", "memory"].filter((name) => !controllers.includes(name));
    if (missing.length > 0) throw new Error(`${root} has no controller ${missing.join(" and ")}`);
    moveOwnProcesses(root);
    writeFileSync(join(root, "cgroup.subtree_control"), "+cpu +memory");
    return new Cgroups(root);
  }

  create(name: string, { cpu, memoryGb }: Limits): Cgroup {
    const path = join(this.#root, `job-${name}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "cpu.max"), `${cpu * periodUs} ${periodUs}`);
    writeFileSync(join(path, "memory.max"), String(memoryGb * gigabyte));
    return new Cgroup(path);
  }
}

/** Limits a job's processes, and finds them all, daemons included. */
export class Cgroup {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  hasRunOutOfMemory(): boolean {
    try {
      const events = readFileSync(join(this.path, "memory.events"), "utf8");
      return /^oom_kill [1-9]/m.test(events);
    } catch {
      return false;
    }
  }

  /** Call after the job's processes have ended. */
  remove(): void {
    try {
      rmdirSync(this.path);
    } catch {
      // a process is ending; an empty group costs nothing
    }
  }
}

function findOwnGroup(): string {
  const path = /^0::(\S+)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
  const mount = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(
    readFileSync("/proc/self/mountinfo", "utf8"),
  )?.[1];
  if (!path || !mount) throw new Error("this system has no cgroup v2");
  return join(mount, path);
}

/** A group with processes of its own cannot limit its children. The system's root group may have both. */
function moveOwnProcesses(root: string): void {
  const processes = readFileSync(join(root, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
  const ours = new Set([process.pid, process.ppid].map(String));
  if (!processes.every((pid) => ours.has(pid))) throw new Error(`${root} has processes of others`);
  mkdirSync(join(root, ownGroup), { recursive: true });
  for (const pid of processes) writeFileSync(join(root, ownGroup, "cgroup.procs"), pid);
}
