import { between, pick } from "../../random.ts";
import type { Fault } from "../fault.ts";

const days = 24 * 3600;
/** Seconds. An ingress process that is a day ahead forgets idempotency keys, as it should. */
const jumps = { ingress: [-3600, -90, -8, 8, 90, 3600], worker: [-8 * days, -90, -8, 8, 90, 8 * days] };

export const clock: Fault = {
  kind: "clock",
  summary: "the clock of an ingress process is 8 s to an hour wrong, of a worker 8 s to 8 days, for 1 to 6 s",
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
};
