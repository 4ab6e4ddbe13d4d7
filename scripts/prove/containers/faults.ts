import type { Fault } from "../faults/fault.ts";
import { between, type Random } from "../random.ts";
import { type Container, type Containers, holdOne } from "./containers.ts";
import { docker } from "./docker.ts";

type ContainerFault = Fault<Containers>;

interface Act {
  /** True if the container's process ends by it. */
  ends: boolean;
  begin(id: string): Promise<unknown>;
  /** Undoes it after this many milliseconds. */
  lasting?: { fromMs: number; toMs: number; undo(id: string): Promise<unknown> };
}

/** Seconds from SIGTERM to SIGKILL. */
const graceSeconds = "8";

const injectBy =
  ({ ends, begin, lasting }: Act): ContainerFault["inject"] =>
  async (containers: Containers, random: Random) => {
    const ms = lasting ? between(random, lasting.fromMs, lasting.toMs) : 0;
    const container = await holdOne(containers, random);
    if (!container) return undefined;
    const { id, name: target } = container;
    const release = () => void containers.held.delete(container);
    try {
      await begin(id);
    } catch (error) {
      release();
      throw error;
    }
    if (ends) countEnd(containers, container);
    if (!lasting) release();
    if (!lasting) return { target };
    return { target, lasting: { ms, undo: () => lasting.undo(id).then(release) } };
  };

function countEnd({ ended }: Containers, { id }: Container): void {
  ended.set(id, (ended.get(id) ?? 0) + 1);
}

export const containerFaults: ContainerFault[] = [
  {
    kind: "container-kill",
    summary: "docker kill of a container; docker start after 0.3 to 5 s, as an operator does",
    weight: 4,
    inject: injectBy({
      ends: true,
      begin: (id) => docker("kill", id),
      lasting: { fromMs: 300, toMs: 5000, undo: (id) => docker("start", id) },
    }),
  },
  {
    kind: "container-crash",
    summary: "kill -9 of a container's first process: its restart policy starts it again",
    weight: 4,
    missing: () => (process.getuid?.() === 0 ? undefined : "only root may kill a container's process"),
    inject: injectBy({
      ends: true,
      async begin(id) {
        const pid = Number(await docker("inspect", "--format", "{{.State.Pid}}", id));
        if (pid === 0) throw new Error("The container has ended."); // 0 would be this process's own group
        process.kill(pid, "SIGKILL");
      },
    }),
  },
  {
    kind: "container-pause",
    summary: "docker pause of a container, docker unpause after 0.3 to 10 s",
    weight: 4,
    inject: injectBy({
      ends: false,
      begin: (id) => docker("pause", id),
      lasting: { fromMs: 300, toMs: 10_000, undo: (id) => docker("unpause", id) },
    }),
  },
  {
    kind: "container-restart",
    summary: "docker restart of a container",
    weight: 2,
    inject: injectBy({ ends: true, begin: (id) => docker("restart", "--time", graceSeconds, id) }),
  },
];
