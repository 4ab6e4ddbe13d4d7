import type { Fault } from "../fault.ts";
import { drawProcess } from "./target.ts";

export const kill: Fault = {
  kind: "kill",
  summary: "kill -9 of an ingress process, worker or agent",
  weight: 4,
  async inject(installation, random) {
    const target = drawProcess(installation, random);
    if (!target) return undefined;
    installation.processes.signal(target, "SIGKILL");
    return { target };
  },
};
