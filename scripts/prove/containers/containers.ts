import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../../find-program.ts";
import { pick, type Random } from "../random.ts";

/** A container of the project. */
export interface Container {
  id: string;
  /** Its service and number, such as `worker.2`. */
  name: string;
}

/** The containers that run for good, and what faults do to them. */
export interface Containers {
  all: Container[];
  /** A fault holds these now. */
  held: Set<Container>;
  /** Times that a fault has ended each, by id. */
  ended: Map<string, number>;
}

const execute = promisify(execFile);
const maxBuffer = 1e8;
const once = "migrate";
const labels = ["service", "container-number"].map((label) => `{{.Label "com.docker.compose.${label}"}}`);

/** Runs a command of Docker. @throws Error if it fails */
export async function docker(...args: string[]): Promise<string> {
  return (await execute("docker", args, { maxBuffer })).stdout.trim();
}

/** Docker's own plug-in, else the program of Debian. */
export function findCompose(): string[] | undefined {
  if (spawnSync("docker", ["compose", "version"]).status === 0) return ["docker", "compose"];
  const program = findProgram(["docker-compose"]);
  return program ? [program] : undefined;
}

export async function listContainers(project: string): Promise<Containers> {
  const filter = `label=com.docker.compose.project=${project}`;
  const format = ["{{.ID}}", ...labels].join(" ");
  const listed = await docker("ps", "--all", "--no-trunc", "--filter", filter, "--format", format);
  const rows = listed.split("\n").map((line) => line.split(" "));
  const all = rows
    .filter(([, service]) => service !== once)
    .map(([id = "", service, number]) => ({ id, name: `${service}.${number}` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1)); // the same targets for the same seed
  return { all, held: new Set(), ended: new Map() };
}

/** Draws a container and holds it. Returns undefined if that one is down, or another fault has it. */
export async function holdOne({ all, held }: Containers, random: Random): Promise<Container | undefined> {
  const container = pick(random, all);
  if (held.has(container)) return undefined;
  held.add(container);
  if (await isRunning(container)) return container;
  held.delete(container);
  return undefined;
}

export async function isRunning({ id }: Container): Promise<boolean> {
  return (await docker("inspect", "--format", "{{.State.Status}}", id)) === "running";
}
