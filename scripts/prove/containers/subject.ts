import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { countRows } from "../../../shared/db/rows.ts";
import { withServices } from "../../scratch/installation.ts";
import { findPostgresProgram } from "../../scratch/postgres.ts";
import { step } from "../../scratch/progress.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { awaitReadiness } from "../converge.ts";
import { chooseFaults } from "../faults/fault.ts";
import { startFaults } from "../faults/schedule.ts";
import { createProveOrganization } from "../installation/organization.ts";
import { checkStructure, type Subject, type Wanted } from "../installation/subject.ts";
import { checkOf } from "../ledger/discrepancy.ts";
import { findDamageOfPostgres } from "../ledger/whole.ts";
import { type Containers, docker, isRunning, listContainers } from "./containers.ts";
import { containerFaults } from "./faults.ts";
import { addresses, agentCount, type Compose, marksInside, openCompose, startServices } from "./stack.ts";

/** Starts a project of compose.yaml, or changes one that runs. It is left running. */
export async function startContainers(
  scratch: Scratch,
  { project, faults: kinds, logs }: Wanted & { project: string },
): Promise<Subject> {
  const marksFolder = join(scratch.dir, "marks");
  mkdirSync(marksFolder);
  chmodSync(marksFolder, 0o777); // containers have a user of their own
  const compose = openCompose(scratch, project, marksFolder);
  startServices(compose, ["proxy", "ingress", "worker"]);
  const env = await readEnvironment(compose);
  const reachable = { installed: { env }, urls: [env.PUBLIC_URL ?? ""] };
  await awaitReadiness(reachable.urls);
  const organization = await withServices({ env }, async (services) => {
    const [used] = await services.db.select().from(services.db.tables.organizations).limit(1);
    if (used) throw new RunFailed(`${project} has an organization: the ledger needs an empty database.`);
    return createProveOrganization(services, marksInside);
  });
  step("Starting agents");
  startServices(compose, ["agent", "agent-mac"], organization.agentToken);

  const containers = await listContainers(project);
  const listDeaths = watchDeaths(scratch, project);
  const { faults, missing } = chooseFaults(containerFaults, kinds, containers);
  return {
    installation: { ...reachable, organization, marksFolder },
    missing,
    hasBlobs: false, // they are in a volume
    async listMissingAgents() {
      const running = await Promise.all(containers.all.map(isRunning));
      const connected = await withServices({ env }, ({ db }) =>
        countRows(db, db.tables.agents, eq(db.tables.agents.state, "connected")),
      );
      return [
        ...(running.every(Boolean) ? [] : ["a container does not run"]),
        ...(connected < agentCount ? [`${connected} of ${agentCount} agents have connected`] : []),
      ];
    },
    startFaults: (options) => startFaults({ ...options, installation: containers, faults }),
    checkEnd() {
      if (logs) mkdirSync(logs, { recursive: true });
      const log = logs && compose(["logs", "--no-color", "--timestamps"]);
      if (logs) writeFileSync(join(logs, "compose.log"), log ?? "");
      const program = findPostgresProgram("pg_amcheck");
      const bin = program ? join(program, "..") : "";
      const { by, problems } = findDamageOfPostgres(env.DATABASE_URL ?? "", bin);
      const discrepancies = [...checkStructure(problems), ...checkDeaths(containers, listDeaths())];
      return { wholeBy: by, discrepancies };
    },
  };
}

/** The environment of an ingress, with addresses that this machine can reach. */
async function readEnvironment(compose: Compose): Promise<Record<string, string>> {
  const [id = ""] = compose(["ps", "--quiet", "ingress"]).split("\n");
  const lines: string[] = JSON.parse(await docker("inspect", "--format", "{{json .Config.Env}}", id));
  const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const reach = (url: string, hostname: string) => Object.assign(new URL(url), { hostname }).href;
  const DATABASE_URL = reach(env.DATABASE_URL, addresses.postgres);
  return { ...env, DATABASE_URL, REDIS_URL: reach(env.REDIS_URL, addresses.redis) };
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
const checkDeaths = checkOf("processes", function* ({ all, ended }: Containers, deaths: string[]) {
  for (const { id, name } of all) {
    const extra = deaths.filter((each) => each === id).length - (ended.get(id) ?? 0);
    if (extra > 0) yield `${name} ended by itself ${extra} times`;
  }
});
