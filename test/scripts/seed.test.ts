import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { findOrMakeDemo } from "../../scripts/seed.ts";
import { listApplications } from "../../shared/oauth/application-store.ts";
import { sqlite } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

describe("the demo", () => {
  const root = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), "signalbox-seed-"));
  before(() => {
    mkdirSync(join(folder, "data"));
    process.chdir(folder); // keeps secrets in the working directory
  });
  after(() => {
    process.chdir(root);
    rmSync(folder, { recursive: true });
  });

  const open = async (t: TestContext) => {
    const world = await startWorld(sqlite);
    t.after(() => world.close());
    const { services } = world;
    const applications = async () =>
      (await listApplications(services.db)).map(({ clientId, secretHash, deviceFlow, refreshTokens }) => ({
        clientId,
        secretHash,
        deviceFlow,
        refreshTokens,
      }));
    return { ...world, applications };
  };
  const cli = { clientId: "signalbox-cli", secretHash: null, deviceFlow: true, refreshTokens: true };

  it("has the application that npm run login signs in as", async (t) => {
    const { services, applications } = await open(t);

    const made = await findOrMakeDemo(services);

    assert.ok(made);
    assert.deepEqual(await applications(), [cli]);
    assert.ok(made.isNew);
    assert.deepEqual(await findOrMakeDemo(services), { ...made, isNew: false });
    assert.deepEqual(await applications(), [cli]);
  });

  it("greets without a payload, and without a name in it, too", async (t) => {
    const { services } = await open(t);
    await findOrMakeDemo(services);
    const [pipeline] = await services.db.select().from(services.db.tables.pipelines);
    const { command = "" } = (pipeline?.steps[0] ?? {}) as { command?: string };
    const [read = "", print = ""] = command.split(" | ");

    const fallback = /--default '(.*)'$/.exec(read)?.[1] ?? "";
    const printed = (input: string) => spawnSync("sh", ["-c", print], { input, encoding: "utf8" }).stdout;

    assert.equal(printed(fallback), "Hello, nobody: no webhook made this build, so it has no payload\n");
    assert.equal(printed('{"hello":"signalbox"}'), "Hello, signalbox\n");
    for (const payload of ['{"ref":"refs/heads/main"}', "null"])
      assert.match(printed(payload), /^Hello, nobody: the payload of this build has no member hello\n$/);
  });

  it("does not touch an installation with other organizations", async (t) => {
    const world = await open(t);
    await setUpOrganization(world);

    assert.equal(await findOrMakeDemo(world.services), undefined);
    assert.deepEqual(await world.applications(), []);
  });
});
