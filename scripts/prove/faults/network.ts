import { between, pick } from "../random.ts";
import type { Fault } from "./fault.ts";

/** Neither end hears anything for this long. */
const silentMs = 30_000;

export const networkFaults: Fault[] = [
  {
    kind: "cut",
    summary: "reset of all connections of a link",
    weight: 10,
    async inject({ links }, random) {
      const { name, proxy } = pick(random, links);
      proxy.cut();
      return { target: name };
    },
  },
  {
    kind: "refuse",
    summary: "reset of a link's connections; new ones are refused for 0.3 to 4 s",
    weight: 4,
    async inject({ links }, random) {
      const { name, proxy } = pick(random, links);
      const ms = between(random, 300, 4000);
      proxy.refuse();
      proxy.cut();
      return { target: name, lasting: { ms, undo: () => proxy.accept() } };
    },
  },
  {
    kind: "delay",
    summary: "20 to 700 ms for each chunk of a link, for 0.5 to 4 s",
    weight: 5,
    async inject({ links }, random) {
      const { name, proxy } = pick(random, links);
      const delayMs = between(random, 20, 700);
      const ms = between(random, 500, 4000);
      proxy.delay(delayMs);
      return { target: `${name}, ${delayMs} ms`, lasting: { ms, undo: () => proxy.delay(0) } };
    },
  },
  {
    kind: "silence",
    summary: "the connections of a link carry nothing more, and stay open for 30 s",
    weight: 3,
    async inject({ links }, random) {
      const { name, proxy } = pick(random, links);
      proxy.silence();
      return { target: name, lasting: { ms: silentMs, undo: () => proxy.endSilent() } };
    },
  },
];
