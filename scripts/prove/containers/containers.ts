import { pick, type Random } from "../random.ts";
import { docker } from "./docker.ts";

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

const once = "migrate";
const labels = ["service", "container-number"].map((label) => `{{.Label "com.docker.compose.${label}"}}`);

export async function listContainers(project: string): Promise<Containers> {
  const filter = `label=com.docker.compose.project=${project}`;
  const format = ["{{.ID}}", ...labels].join(" ");
  const listed = await docker("ps", "--all", "--no-trunc", "--filter", filter, "--format", format);
  const all = listed
    .split("\n")
    .map((line) => line.split(" "))
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
  if ((await stateOf(container)) === "running") return container;
  held.delete(container);
  return undefined;
}

export async function areRunning({ all }: Containers): Promise<boolean> {
  return (await Promise.all(all.map(stateOf))).every((state) => state === "running");
}

function stateOf({ id }: Container): Promise<string> {
  return docker("inspect", "--format", "{{.State.Status}}", id);
}
