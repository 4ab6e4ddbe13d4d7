import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { loaders } from "../../scripts/node-options.ts";

const run = promisify(execFile);

/** Lists the packages that a process has once it has imported a module. */
async function packagesOf(module: string): Promise<string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, nextLoad) {
        const [name] = /(?<=.*[/]node_modules[/])(@[^/]+[/])?[^/]+/.exec(url) ?? [];
        if (name) packages.add(name);
        return nextLoad(url, context);
      },
    });
    await import(${JSON.stringify(module)});
    process.stdout.write(JSON.stringify([...packages]), () => process.exit());
  `;
  const args = [...loaders, "--input-type=module", "--eval", program];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout);
}

/** Each takes megabytes and a part of the start, so it is loaded, or its thread is started, at its first use. */
const loadedLater =
  /^(@aws-sdk|@smithy|@opentelemetry\/(sdk|exporter|resources)|markdown-it|sanitize-html|pino-pretty)/;
const ofCommandsAndAgents = /^(commander|drizzle-kit|open|uqr)$/;

describe("the packages that a process loads at its start", () => {
  for (const module of ["./ingress/server.ts", "./workers/run.ts"]) {
    it(`are those that ${module} needs with the default settings`, async () => {
      const packages = await packagesOf(module);
      assert.ok(packages.includes("drizzle-orm"));
      assert.deepEqual(
        packages.filter((name) => loadedLater.test(name) || ofCommandsAndAgents.test(name)),
        [],
      );
    });
  }

  it("are few in an agent", async () => {
    assert.deepEqual((await packagesOf("./scripts/agent/run.ts")).sort(), ["commander", "zod"]);
  });

  it("are few in npm start", async () => {
    const packages = await packagesOf("./scripts/start/private-redis.ts");
    assert.ok(packages.includes("ioredis"));
    assert.deepEqual(
      packages.filter((name) => /^(drizzle-orm|better-sqlite3|pg|zod|bullmq|pino|h3)$/.test(name)),
      [],
    );
  });
});
