import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../test/servers/ports.ts";
import { BenchmarkFailed, type Scratch } from "../../bench/scratch.ts";
import { generousSettings } from "../installation/settings.ts";
import { findCompose } from "./docker.ts";

/** The project of compose.yaml, with what a proof needs besides. */
export interface Stack {
  /** Addresses of its servers for this machine. */
  ports: { postgres: number; redis: number };
  /** Runs Compose. @throws BenchmarkFailed if it fails */
  compose(args: string[], env?: Record<string, string>): string;
}

/** Folder of the marks in containers of agents. */
export const marksInside = "/prove";
const spawn = 3;
const scales = { ingress: 3, worker: 4, agent: 2, "agent-mac": 1 };
/** Two containers serve the first queue, one the second. */
export const agentCount = spawn * (scales.agent + scales["agent-mac"]);

export async function planStack(scratch: Scratch, project: string, marksFolder: string): Promise<Stack> {
  const found = findCompose();
  if (!found) throw new BenchmarkFailed("There is neither docker compose nor docker-compose.");
  const [program = "", ...first] = found;
  const ports = { postgres: await freePort(), redis: await freePort() };
  const file = join(scratch.dir, "compose.json");
  writeFileSync(file, JSON.stringify({ services: planServices(ports, marksFolder) }));
  const options = [
    "--file",
    "compose.yaml",
    "--file",
    file,
    "--project-name",
    project,
    "--profile",
    "agents",
  ];
  return {
    ports,
    compose(args, env = {}) {
      try {
        return execFileSync(program, [...first, ...options, ...args], {
          ...{ encoding: "utf8", maxBuffer: 1e8, stdio: ["ignore", "pipe", "pipe"] },
          env: { COMPOSE_HTTP_TIMEOUT: "600", ...process.env, ...env },
        });
      } catch (error) {
        throw new BenchmarkFailed((error as Error).message);
      }
    },
  };
}

/** Starts all services, or those that are named, and waits until they have begun. */
export function startServices(stack: Stack, services: (keyof typeof scales | "proxy")[], token = ""): void {
  const scaled = Object.entries(scales).filter(([service]) => services.some((name) => name === service));
  const scale = scaled.flatMap(([service, number]) => ["--scale", `${service}=${number}`]);
  stack.compose(["up", "--detach", ...scale, ...services], { AGENT_TOKEN: token });
}

/** Added to the services of compose.yaml. */
function planServices(ports: Stack["ports"], marksFolder: string) {
  const agent = (queue: string) => ({
    command: [
      ...["node", "--import", "tsx", "scripts/agent.ts", "start"],
      ...["--queue", queue, "--spawn", String(spawn)],
    ],
    volumes: [`${marksFolder}:${marksInside}`],
  });
  return {
    // The usual image says so itself. By SIGTERM Postgres would wait for its clients.
    postgres: { stop_signal: "SIGINT", ports: [`127.0.0.1:${ports.postgres}:5432`] },
    redis: { ports: [`127.0.0.1:${ports.redis}:6379`] },
    ingress: { environment: generousSettings },
    worker: { environment: generousSettings },
    agent: agent("linux"),
    "agent-mac": {
      ...agent("mac"),
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: Compose fills them in
      image: "${SIGNALBOX_IMAGE:-signalbox}",
      environment: { BASE_URL: "http://proxy:3000", SIGNALBOX_AGENT_TOKEN: "${AGENT_TOKEN:-}" },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: Compose fills them in
      ...{ init: true, restart: "unless-stopped", profiles: ["agents"], depends_on: ["proxy"] },
    },
  };
}
