import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createEndpoint, createFilteringOrganization } from "../../../scripts/scratch/organization.ts";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { withServices } from "../../../scripts/with-services.ts";
import { readConfig } from "../../../shared/settings/config.ts";
import { eventually } from "../../helpers/http.ts";
import { bundle, type Running, runNode } from "../../helpers/processes.ts";
import { patientRedisUrl, secretKey } from "../../helpers/world.ts";

describe("the bundle of the image", () => {
  const data = mkdtempSync(join(tmpdir(), "signalbox-bundle-"));
  const dist = bundle ?? `dist/test-${process.pid}`;
  let settings: Record<string, string>;
  let deliveryUrl: string;
  const running: Running[] = [];

  const finish = async (each: Running) => {
    if (each.process.exitCode === null) await once(each.process, "exit");
    assert.equal(each.process.exitCode, 0, each.output());
  };

  before(async () => {
    const port = String(await freePort());
    settings = {
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SECRET_KEY: secretKey,
      DATABASE_URL: `file:${join(data, "signalbox.db")}`,
      REDIS_URL: patientRedisUrl() ?? "",
      REDIS_PREFIX: `test-${process.pid}-bundle`,
    };
    if (!bundle) await finish(runNode(["scripts/deploy/bundle.ts", dist], {}));
    await finish(runNode([`${dist}/migrate.js`], settings));
    await withServices(readConfig({ ...settings, HOST: "127.0.0.1" }), async (services) => {
      const { operator, cluster } = await createFilteringOrganization(services, "acme");
      const endpoint = { slug: "hooked", filter: "webhook.payload.wanted == true" };
      ({ deliveryUrl } = await createEndpoint(services, { operator, clusterId: cluster.id }, endpoint));
    });
    running.push(runNode([`${dist}/ingress.js`], settings), runNode([`${dist}/workers.js`], settings));
    await eventually("the ingress", () =>
      fetch(`${settings.PUBLIC_URL}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });
  after(async () => {
    for (const each of running) await each.kill();
    if (!bundle) rmSync(dist, { recursive: true, force: true });
    rmSync(data, { recursive: true, force: true });
  });

  it("answers with pages and what they load", async () => {
    const { PUBLIC_URL: url } = settings;

    const page = await (await fetch(`${url}/sign-in`)).text();
    const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    assert.ok(assets.length > 0);
    for (const path of [...assets, "/docs", "/docs/steps", "/docs/api", "/openapi.json"])
      assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  });

  it("builds what a filter wants, in its threads", async () => {
    const deliver = (body: object) =>
      fetch(deliveryUrl, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });

    assert.equal((await deliver({ wanted: false })).status, 201);
    assert.equal((await deliver({ wanted: true })).status, 201);

    await withServices(readConfig({ ...settings, HOST: "127.0.0.1" }), async ({ db }) => {
      const { deliveries } = db.tables;
      const statuses = await eventually("both builds", async () => {
        const rows = await db.select({ status: deliveries.status }).from(deliveries);
        return rows.every(({ status }) => status !== null) && rows.map(({ status }) => status);
      });
      assert.deepEqual(statuses.toSorted(), ["build_created", "not_run"]);
    });
  });
});
