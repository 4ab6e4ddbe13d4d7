import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { it } from "node:test";
import { readPageBefore, readPageFrom } from "../../../shared/agents/logs/page.ts";
import { findLog } from "../../../shared/agents/logs/store.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

const logBytes = 100 * 1024 * 1024;
const chunkBytes = 102_400;
const line = `${"x".repeat(63)}\n`;

describeWorldOn(sqlite, "a log of 100 MB", openApi, (api) => {
  it("shows any page, and is streamed", async () => {
    const { services } = api.world;
    const made = await newJob(services, api.acme);
    const job = await leaseJob(services, made);
    const text = Buffer.from(line.repeat(logBytes / line.length));
    await job.log(text, chunkBytes);
    await job.finish();
    const log = await findLog(services.db, job.lease);
    assert.equal(log?.size, logBytes);
    const readable = { log, isOpen: false };

    const first = await readPageFrom(services.db, readable, 0);
    const last = await readPageBefore(services.db, readable);
    const middle = await readPageFrom(services.db, readable, logBytes / 2);

    assert.equal(first.lines[0]?.number, 1);
    assert.equal(last.lines.at(-1)?.number, logBytes / line.length);
    assert.equal(middle.lines[0]?.number, logBytes / 2 / line.length + 1);

    const token = await api.tokenOf(api.admin, ["read_build_logs"]);
    const path = `/v2/organizations/acme/pipelines/${made.slug}/builds/1/jobs/${made.id}/log.txt`;
    const response = await fetch(api.world.url + path, { headers: { Authorization: `Bearer ${token}` } });
    let size = 0;
    for await (const piece of response.body ?? []) size += piece.length;
    assert.equal(size, logBytes);
  });

  it("that does not compress is kept too", async () => {
    const { services } = api.world;
    const job = await leaseJob(services, await newJob(services, api.acme));
    await job.log(randomBytes(5 * chunkBytes), chunkBytes);
    const log = await findLog(services.db, job.lease);
    assert.deepEqual([log?.size, log?.droppedBytes], [5 * chunkBytes, 0]);
  });
});
