import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PlannedProcess } from "../../start/procfile.ts";
import { tag } from "./steps.ts";

/** The agents of each process. */
const spawn = 3;

/** An agent's queue and tags: two processes serve the first queue, each at an ingress process of its own. */
const queues = ["linux", `linux --tags ${tag}`, "mac"];

/** Plans a process of agents. @param index of the process among those of its kind */
export function planAgent(
  planned: PlannedProcess,
  { index, url, token, folder }: { index: number; url: string; token: string; folder: string },
): PlannedProcess {
  const buildPath = join(folder, planned.name);
  mkdirSync(buildPath, { recursive: true });
  const queue = queues[index % queues.length];
  const options = `--queue ${queue} --spawn ${spawn} --name ${planned.name}-%spawn --endpoint ${url}/v3 --build-path ${buildPath}`;
  return {
    ...planned,
    command: `${planned.command} ${options}`,
    env: { ...planned.env, SIGNALBOX_AGENT_TOKEN: token },
  };
}
