import { pick } from "../../random.ts";
import type { Fault } from "../fault.ts";

/** Neither end hears anything for this long. */
const lastsMs = 30_000;

export const silence: Fault = {
  kind: "silence",
  summary: "the connections of a link carry nothing more, and stay open for 30 s",
  weight: 3,
  async inject({ links }, random) {
    const { name, proxy } = pick(random, links);
    proxy.silence();
    return { target: name, lasting: { ms: lastsMs, undo: () => proxy.endSilent() } };
  },
};
