import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { freePort } from "../../scripts/scratch/ports.ts";
import { eventually } from "../helpers/http.ts";
import { type Running, run } from "../helpers/processes.ts";
import { patientRedisUrl } from "../helpers/world.ts";
import { checkOut } from "./releases.ts";

type Version = "former" | "present";
export type Versions = ReturnType<typeof openVersions>;

const scripts = { ingress: "ingress/main.ts", worker: "workers/main.ts" };

/** Processes of a former release and of the present version, on one database. */
export function openVersions(databaseUrl: string, release: string) {
  const folders = { former: checkOut(release), present: "." };
  const running: { version: Version; kind: keyof typeof scripts; process: Running }[] = [];
  let migrated = "";
  const settings = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: patientRedisUrl() ?? "",
    REDIS_PREFIX: `upgrade-${randomUUID()}`,
  };
  return {
    /** Resolves once it has started. */
    async start(version: Version, kind: keyof typeof scripts): Promise<{ url: string }> {
      const port = await freePort();
      const process = run([scripts[kind]], { ...settings, PORT: String(port) }, "", folders[version]);
      running.push({ version, kind, process });
      await eventually(`the ${version} ${kind}`, async () => process.output().includes('"started"'));
      return { url: `http://127.0.0.1:${port}` };
    },
    /** @param kind default: processes of both kinds */
    async stop(version: Version, kind?: keyof typeof scripts): Promise<void> {
      const own = running.filter(
        (each) => each.version === version && (kind === undefined || each.kind === kind),
      );
      await Promise.all(own.map(({ process }) => process.kill("SIGTERM")));
    },
    async migrate(version: Version): Promise<void> {
      const migrating = run(["scripts/migrate.ts"], settings, "", folders[version]);
      const [code] = await once(migrating.process, "exit");
      migrated = migrating.output().trim();
      assert.equal(code, 0, migrated);
    },
    /** The output of `migrate`. */
    output: () => migrated,
    async close(): Promise<void> {
      await Promise.all(running.map(({ process }) => process.kill()));
    },
  };
}
