import { between, pick } from "../random.ts";
import type { Fault } from "./fault.ts";

const days = 24 * 3600;
/** Seconds. An ingress process that is a day ahead forgets idempotency keys, as it should. */
const jumps = { ingress: [-3600, -90, -8, 8, 90, 3600], worker: [-8 * days, -90, -8, 8, 90, 8 * days] };

export const machineFaults: Fault[] = [
  {
    kind: "full-disk",
    summary: "the disk of the database and of Redis is full for 0.5 to 4 s",
    weight: 1,
    missing: ({ disk }) => disk.cannotFill,
    async inject({ disk }, random) {
      const ms = between(random, 500, 4000);
      disk.fill();
      return { target: "disk", lasting: { ms, undo: () => disk.free() } };
    },
  },
  {
    kind: "clock",
    summary:
      "the clock of an ingress process is 8 s to an hour wrong, of a worker 8 s to 8 days, for 1 to 6 s",
    weight: 3,
    missing: ({ clocks }) => clocks.cannotMove,
    async inject({ clocks, processes }, random) {
      const servers = processes.names.filter((name) => !name.startsWith("agent"));
      const target = pick(random, servers);
      const jump = pick(random, target.startsWith("ingress") ? jumps.ingress : jumps.worker);
      const ms = between(random, 1000, 6000);
      clocks.move(target, jump);
      return { target: `${target}, ${jump} s`, lasting: { ms, undo: () => clocks.move(target, 0) } };
    },
  },
];
