import type { Fault } from "../fault.ts";
import { drawProcess } from "./target.ts";

export const terminate: Fault = {
  kind: "terminate",
  summary: "SIGTERM to an ingress process, worker or agent, as a restart sends it",
  weight: 2,
  async inject(installation, random) {
    const target = drawProcess(installation, random);
    if (!target) return undefined;
    installation.processes.signal(target, "SIGTERM");
    return { target };
  },
};
