import { between, pick } from "../../random.ts";
import type { Fault } from "../fault.ts";

export const refuse: Fault = {
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
};
