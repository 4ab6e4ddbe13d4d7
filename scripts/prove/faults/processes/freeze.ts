import { between } from "../../random.ts";
import type { Fault } from "../fault.ts";
import { drawProcess } from "./target.ts";

export const freeze: Fault = {
  kind: "freeze",
  summary: "SIGSTOP of an ingress process, worker or agent, SIGCONT after 0.3 to 10 s",
  weight: 4,
  async inject(installation, random) {
    const { processes } = installation;
    const target = drawProcess(installation, random);
    const ms = between(random, 300, 10_000);
    if (!target) return undefined;
    processes.signal(target, "SIGSTOP");
    return { target, lasting: { ms, undo: () => processes.signal(target, "SIGCONT") } };
  },
};
