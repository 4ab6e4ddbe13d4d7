import { type Fault, faultOf } from "../faults/fault.ts";
import { between, type Random } from "../random.ts";
import { type Containers, docker, holdOne } from "./containers.ts";

type Inject = Fault<Containers>["inject"];

/** Undoes an act after this many milliseconds. */
interface Lasting {
  fromMs: number;
  toMs: number;
  undo(id: string): Promise<unknown>;
}

/** Seconds from SIGTERM to SIGKILL. */
const graceSeconds = "8";

/** @param ends true if the container's process ends by it */
function act(ends: boolean, begin: (id: string) => Promise<unknown>, lasting?: Lasting): Inject {
  return async (containers: Containers, random: Random) => {
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
    if (ends) containers.ended.set(id, (containers.ended.get(id) ?? 0) + 1);
    if (lasting) return { target, lasting: { ms, undo: () => lasting.undo(id).then(release) } };
    release();
    return { target };
  };
}

async function crash(id: string): Promise<void> {
  const pid = Number(await docker("inspect", "--format", "{{.State.Pid}}", id));
  if (pid === 0) throw new Error("The container has ended."); // 0 would be this process's own group
  process.kill(pid, "SIGKILL");
}

const start = { fromMs: 300, toMs: 5000, undo: (id: string) => docker("start", id) };
const unpause = { fromMs: 300, toMs: 10_000, undo: (id: string) => docker("unpause", id) };
const notRoot = () => (process.getuid?.() === 0 ? undefined : "only root may kill a container's process");

export const containerFaults: Fault<Containers>[] = [
  faultOf(
    "container-kill",
    4,
    "docker kill of a container; docker start after 0.3 to 5 s, as an operator does",
    act(true, (id) => docker("kill", id), start),
  ),
  faultOf(
    "container-crash",
    4,
    "kill -9 of a container's first process: its restart policy starts it again",
    act(true, crash),
    notRoot,
  ),
  faultOf(
    "container-pause",
    4,
    "docker pause of a container, docker unpause after 0.3 to 10 s",
    act(false, (id) => docker("pause", id), unpause),
  ),
  faultOf(
    "container-restart",
    2,
    "docker restart of a container",
    act(true, (id) => docker("restart", "--time", graceSeconds, id)),
  ),
];
