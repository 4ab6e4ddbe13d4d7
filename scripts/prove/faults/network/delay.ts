import { between, pick } from "../../random.ts";
import type { Fault } from "../fault.ts";

export const delay: Fault = {
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
};
