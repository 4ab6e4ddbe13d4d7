import assert from "node:assert/strict";
import { it } from "node:test";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { startMetricsServer } from "../../../shared/services/metric-server.ts";
import { sqlite } from "../../helpers/databases.ts";
import { post, request } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

it("GET /metrics counts deliveries, refusals by cause, requests by route and times of locks, on ports of their own", async () => {
  const world = await startWorld(sqlite);
  const { path } = await (await setUpOrganization(world)).trigger();
  await post(world.url + path, "{}");
  await post(world.url + path, "{");
  await post(`${world.url}/deliver/nope`, "{}");

  const port = await freePort();
  const first = await startMetricsServer(world.services, port);
  const other = await world.another();
  const second = await startMetricsServer(other.services, port);
  const { text } = await request(first.url);
  const { text: textOfSecond } = await request(second.url);

  const own = 'process="test",version="1.0.0"';
  for (const line of [
    `signalbox_deliveries_accepted_total{${own}} 1`,
    `signalbox_delivery_accept_seconds_count{${own}} 1`,
    `signalbox_deliveries_refused_total{cause="invalid_json",${own}} 1`,
    `signalbox_deliveries_refused_total{cause="invalid_token",${own}} 1`,
    `signalbox_http_requests_total{route="/deliver/**",method="POST",status="201",${own}} 1`,
    `signalbox_redis_away{${own}} 0`,
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.match(text, /signalbox_write_lock_seconds_count\{.+\} [1-9]/);
  assert.doesNotMatch(text, /^signalbox_(queue|stored|measured)/m); // those of one worker
  assert.ok(textOfSecond.includes(`signalbox_deliveries_accepted_total{${own}} 0\n`));
  assert.notEqual(second.url, first.url);
  assert.equal((await request(`${world.url}/metrics`)).status, 404);
  first.close();
  second.close();
  await world.close();
});
