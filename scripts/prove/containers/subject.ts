import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { count, eq } from "drizzle-orm";
import { withServices } from "../../scratch/installation.ts";
import { findPostgresProgram } from "../../scratch/postgres.ts";
import { step } from "../../scratch/progress.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { awaitReadiness } from "../converge.ts";
import { chooseFaults } from "../faults/fault.ts";
import { startFaults } from "../faults/schedule.ts";
import { createProveOrganization } from "../installation/organization.ts";
import { type Discrepancy, discrepancy } from "../ledger/discrepancy.ts";
import { checkPostgres } from "../ledger/whole.ts";
import type { Subject, Wanted } from "../subject.ts";
import { areRunning, type Containers, listContainers } from "./containers.ts";
import { docker } from "./docker.ts";
import { containerFaults } from "./faults.ts";
import { addresses, agentCount, marksInside, planStack, type Stack, startServices } from "./stack.ts";

/** Starts a project of compose.yaml, or changes one that runs. It is left running. */
export async function startContainers(
  scratch: Scratch,
  { project, faults: kinds, logs }: Wanted & { project: string },
): Promise<Subject> {
  const marksFolder = join(scratch.dir, "marks");
  mkdirSync(marksFolder);
  chmodSync(marksFolder, 0o777); // containers have a user of their own
  const stack = planStack(scratch, project, marksFolder);
  startServices(stack, ["proxy", "ingress", "worker"]);
  const env = await readEnvironment(stack);
  const reachable = { installed: { env }, urls: [env.PUBLIC_URL ?? ""] };
  await awaitReadiness(reachable.urls);
  const organization = await withServices({ env }, async (services) => {
    const [used] = await services.db.select().from(services.db.tables.organizations).limit(1);
    if (used) throw new RunFailed(`${project} has an organization: the ledger needs an empty database.`);
    return createProveOrganization(services, marksInside);
  });
  step("Starting agents");
  startServices(stack, ["agent", "agent-mac"], organization.agentToken);

  const containers = await listContainers(project);
  const deaths = watchDeaths(scratch, project);
  const { faults, missing } = chooseFaults(containerFaults, kinds, containers);
  return {
    installation: { ...reachable, organization, marksFolder },
    missing,
    hasBlobs: false, // they are in a volume
    async listMissingAgents() {
      const connected = await countAgents(env);
      return [
        ...((await areRunning(containers)) ? [] : ["a container does not run"]),
        ...(connected < agentCount ? [`${connected} of ${agentCount} agents have connected`] : []),
      ];
    },
    startFaults: (options) => startFaults({ ...options, installation: containers, faults }),
    checkEnd() {
      if (logs) mkdirSync(logs, { recursive: true });
      if (logs)
        writeFileSync(join(logs, "compose.log"), stack.compose(["logs", "--no-color", "--timestamps"]));
      const { by, discrepancies } = checkPostgres({ url: env.DATABASE_URL ?? "", bin: findPostgres() });
      return { wholeBy: by, discrepancies: [...discrepancies, ...checkDeaths(containers, deaths())] };
    },
  };
}

/** The environment of an ingress, with addresses that this machine can reach. */
async function readEnvironment({ compose }: Stack): Promise<Record<string, string>> {
  const [id = ""] = compose(["ps", "--quiet", "ingress"]).split("\n");
  const lines: string[] = JSON.parse(await docker("inspect", "--format", "{{json .Config.Env}}", id));
  const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const reach = (url: string, hostname: string) => Object.assign(new URL(url), { hostname }).href;
  return {
    ...env,
    DATABASE_URL: reach(env.DATABASE_URL, addresses.postgres),
    REDIS_URL: reach(env.REDIS_URL, addresses.redis),
  };
}

async function countAgents(env: Record<string, string>): Promise<number> {
  return withServices({ env }, async ({ db }) => {
    const { agents } = db.tables;
    const [row] = await db.select({ total: count() }).from(agents).where(eq(agents.state, "connected"));
    return row?.total ?? 0;
  });
}

/** @returns reads the ids of containers that have ended, once for each end */
function watchDeaths(scratch: Scratch, project: string): () => string[] {
  const filters = [`label=com.docker.compose.project=${project}`, "event=die"];
  const args = ["events", ...filters.flatMap((filter) => ["--filter", filter]), "--format", "{{.ID}}"];
  const { DOCKER_HOST } = process.env;
  scratch.startProgram("deaths", "docker", { args, ...(DOCKER_HOST && { env: { DOCKER_HOST } }) });
  return () => readFileSync(join(scratch.dir, "deaths.log"), "utf8").split("\n").filter(Boolean);
}

/** A container ends only by a fault. */
function checkDeaths({ all, ended }: Containers, deaths: string[]): Discrepancy[] {
  return all.flatMap(({ id, name }) => {
    const own = deaths.filter((each) => each === id).length;
    const extra = own - (ended.get(id) ?? 0);
    return extra > 0 ? discrepancy("processes", `${name} ended by itself ${extra} times`) : [];
  });
}

function findPostgres(): string {
  const found = findPostgresProgram("pg_amcheck");
  return found ? join(found, "..") : "";
}
