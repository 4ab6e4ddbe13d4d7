import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { isNull } from "drizzle-orm";
import { kilobytesOf } from "../../../scripts/scratch/process-tree.ts";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { sqlite } from "../../helpers/databases.ts";
import { eventually, post, untilNotBusy } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { type Running, runWorker } from "../../helpers/processes.ts";
import { settingsOf, startWorld, type World } from "../../helpers/world.ts";

const payloadBytes = 5 * 1024 * 1024 - 100;
/** Parsed, it takes about thirty times as much. */
const shape = "[[]]";
const organizations = 20;
const maxMegabytes = 600;
/** Each takes seconds of a thread: at a load of 14 on two cores all took 170 s. */
const maxDecidingMs = 300_000;

const missing = process.platform === "linux" ? false : "only Linux says how much memory a process has taken";

describe("a worker with 20 payloads of 5 MB under filters", { skip: missing }, () => {
  let world: World;
  let worker: Running;

  before(async () => {
    world = await startWorld(sqlite);
  });
  after(async () => {
    await worker?.kill("SIGTERM");
    await world.close();
  });

  it(`builds all of them, and stays below ${maxMegabytes} MB`, async (context) => {
    for (let index = 0; index < organizations; index++) {
      const slug = `organization-${index}`;
      const organization = await setUpOrganization(world, slug);
      await updateOrganization(world.services, slug, { features: { webhook_filtering: true } });
      const { path } = await organization.trigger({ filter: "size(webhook.payload) > 3" });
      const times = Math.floor(payloadBytes / (shape.length + 1));
      const body = `[${Array(times).fill(shape).join(",")}]`;
      const { status } = await untilNotBusy(() => post(world.url + path, body));
      assert.equal(status, 201);
    }

    worker = await runWorker(settingsOf(world));
    const { pid } = worker.process;
    writeFileSync(`/proc/${pid}/clear_refs`, "5"); // the peak of starting does not count
    const { deliveries } = world.services.db.tables;
    const waiting = async () =>
      (
        await world.services.db
          .select({ id: deliveries.id })
          .from(deliveries)
          .where(isNull(deliveries.status))
      ).length;
    await eventually("the decisions", async () => (await waiting()) === 0, maxDecidingMs);
    const decided = await world.services.db.select({ status: deliveries.status }).from(deliveries);
    assert.deepEqual(new Set(decided.map(({ status }) => status)), new Set(["build_created"]));

    const peak = Math.round(kilobytesOf(pid ?? 0, "VmHWM") / 1024);
    context.diagnostic(`${peak} MB at most`);
    assert.ok(peak < maxMegabytes, `${peak} MB`);
  });
});
