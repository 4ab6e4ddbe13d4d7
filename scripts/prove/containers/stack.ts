import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { generousSettings } from "../installation/settings.ts";
import { tag } from "../installation/steps.ts";
import { findCompose } from "./containers.ts";

/** Runs Compose for the project of compose.yaml, with what a proof needs besides. @throws RunFailed if it fails */
export type Compose = (args: string[], env?: Record<string, string>) => string;

/** Folder of the marks in containers of agents. */
export const marksInside = "/prove";
/** No port of Postgres or Redis is published. This machine is the gateway of their network, and so reaches them. */
export const addresses = { postgres: "172.31.255.2", redis: "172.31.255.3" };
const dataNetwork = { ipam: { config: [{ subnet: "172.31.255.0/24", ip_range: "172.31.255.128/25" }] } };
const proxyInside = "http://proxy:3000";
const spawn = 3;
const scales = { ingress: 3, worker: 4, agent: 2, "agent-mac": 1 };
/** Two containers serve the first queue, one the second. */
export const agentCount = spawn * (scales.agent + scales["agent-mac"]);

export function openCompose(scratch: Scratch, project: string, marksFolder: string): Compose {
  const found = findCompose();
  if (!found) throw new RunFailed("There is neither docker compose nor docker-compose.");
  const [program = "", ...first] = found;
  const file = join(scratch.dir, "compose.json");
  const added = { services: planServices(marksFolder), networks: { data: dataNetwork } };
  writeFileSync(file, JSON.stringify(added));
  const files = ["--file", "compose.yaml", "--file", file];
  const options = [...first, ...files, "--project-name", project, "--profile", "agents"];
  return (args, given = {}) => {
    const env = { COMPOSE_HTTP_TIMEOUT: "600", ...process.env, ...given };
    try {
      return execFileSync(program, [...options, ...args], {
        encoding: "utf8",
        maxBuffer: 1e8,
        stdio: ["ignore", "pipe", "pipe"],
        env,
      });
    } catch (error) {
      throw new RunFailed((error as Error).message);
    }
  };
}

/**
 * Starts the named services, and waits until they have begun. Name the services that they need, unless those run
 * already.
 */
export function startServices(
  compose: Compose,
  services: (keyof typeof scales | "proxy")[],
  token = "",
): void {
  const scaled = Object.entries(scales).filter(([service]) => services.some((name) => name === service));
  const scale = scaled.flatMap(([service, number]) => ["--scale", `${service}=${number}`]);
  // Compose scales a service that it starts for another to one container.
  const alone = services.includes("proxy") ? [] : ["--no-deps"];
  compose(["up", "--detach", ...alone, ...scale, ...services], { AGENT_TOKEN: token });
}

/** Added to the services of compose.yaml. */
function planServices(marksFolder: string) {
  const agent = (queue: string, ...more: string[]) => ({
    command: [
      ...["node", "--max-semi-space-size=4", "dist/agent.js", "start"],
      ...["--queue", queue, "--spawn", String(spawn), ...more],
    ],
    volumes: [`${marksFolder}:${marksInside}`],
  });
  return {
    // The usual image says so itself. By SIGTERM Postgres would wait for its clients.
    postgres: { stop_signal: "SIGINT", networks: { data: { ipv4_address: addresses.postgres } } },
    redis: { networks: { data: { ipv4_address: addresses.redis } } },
    // Jobs send and get files at this address.
    ingress: { environment: { ...generousSettings, BASE_URL: proxyInside } },
    worker: { environment: generousSettings },
    agent: agent("linux", "--tags", tag),
    "agent-mac": {
      ...agent("mac"),
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: Compose fills them in
      image: "${SIGNALBOX_IMAGE:-signalbox}",
      environment: { BASE_URL: proxyInside, SIGNALBOX_AGENT_TOKEN: "${AGENT_TOKEN:-}" },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: Compose fills them in
      init: true,
      restart: "unless-stopped",
      profiles: ["agents"],
      depends_on: ["proxy"],
      networks: ["agents", "outside"],
    },
  };
}
