import { CannotStart } from "./cannot-start.ts";

export interface Kind {
  name: string;
  command: string;
}

/** `ingress`, or `ingress.2` of several. */
export interface PlannedProcess extends Kind {
  kind: string;
  /** Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Default: that of this process. */
  user?: { uid?: number; gid?: number };
  /** It starts once this resolves with true. Default: at once. */
  after?: Promise<boolean>;
}

const maxOfKind = 100;

/** @throws CannotStart naming the first bad line */
export function parseProcfile(text: string): Kind[] {
  const kinds: Kind[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, command] = /^([A-Za-z0-9_-]+):\s*(\S.*?)\s*$/.exec(line) ?? [];
    if (!name || !command) throw new CannotStart(`Procfile, line ${index + 1}: it must be "name: command".`);
    if (kinds.some((kind) => kind.name === name)) {
      throw new CannotStart(`Procfile, line ${index + 1}: there is a ${name} already.`);
    }
    kinds.push({ name, command });
  }
  return kinds;
}

/** The help of `npm start`. */
export function usage(kinds: Kind[]): string {
  return [
    "Usage: npm start -- [name=number …]",
    "",
    "Start the processes of the Procfile, and a private Redis unless REDIS_URL is set.",
    "",
    "name=number says how many processes of a kind to start: ingress=2, or agent=0 for none.",
    `Names: ${kinds.map(({ name }) => name).join(", ")}.`,
  ].join("\n");
}

/**
 * Plans one process of each kind by default. A kind whose command is another kind's with arguments, such as
 * `deliveries` beside `worker`, starts only if named: the other does its work.
 * @throws CannotStart for an unknown name or a bad number
 */
export function planProcesses(kinds: Kind[], args: string[]): PlannedProcess[] {
  const scale = parseScale(kinds, args);
  const planned = kinds.flatMap(({ name, command }) => {
    const isPart = kinds.some((kind) => command.startsWith(`${kind.command} `));
    const count = scale.get(name) ?? (isPart ? 0 : 1);
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? name : `${name}.${index + 1}`,
      kind: name,
      command,
    }));
  });
  if (planned.length === 0) throw new CannotStart("There is nothing to start.");
  return planned;
}

/** Each has METRICS_PORT plus its place, so that a process has the same port after every restart. */
export function giveMetricsPorts(processes: PlannedProcess[], env: NodeJS.ProcessEnv): PlannedProcess[] {
  const first = Number(env.METRICS_PORT || 0);
  return processes.map((each, place) => ({
    ...each,
    env: { ...env, PROCESS_NAME: each.name, ...(first > 0 && { METRICS_PORT: String(first + place) }) },
  }));
}

function parseScale(kinds: Kind[], args: string[]): Map<string, number> {
  const names = kinds.map((kind) => kind.name);
  const scale = new Map<string, number>();
  for (const arg of args) {
    const [, name, count] = /^([^=]+)=(\d{1,4})$/.exec(arg) ?? [];
    if (!name || !count || Number(count) > maxOfKind) {
      throw new CannotStart(
        `${arg}: it must be name=number, like ${names[0]}=2, with a number of at most ${maxOfKind}.`,
      );
    }
    if (!names.includes(name)) {
      throw new CannotStart(`There is no process ${name}. The Procfile has: ${names.join(", ")}.`);
    }
    scale.set(name, Number(count));
  }
  return scale;
}
