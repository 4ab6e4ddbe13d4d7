import assert from "node:assert/strict";
import { it } from "node:test";
import { Receiver } from "../../shared/artifacts/receive.ts";
import { findArtifact } from "../../shared/artifacts/store.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { chunks } from "../blobs/contract.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { leaveArtifact } from "./left-by-job.ts";

describeWorld("artifacts whose bytes come at the same time", openApi, (api) => {
  it("share a transaction, each with its own answer", async () => {
    const { services } = api.world;
    const job = await newJob(services, api.acme);
    const leave = (given: Parameters<typeof leaveArtifact>[2]) =>
      leaveArtifact(services, job, { state: "new", storedAt: null, finishedAt: null, ...given });
    const open = [await leave({ path: "a" }), await leave({ path: "b" }), await leave({ path: "c" })];
    const failed = await leave({ path: "d", state: "error" });
    let transactions = 0;
    const transaction: typeof services.db.transaction = (work) => {
      transactions++;
      return services.db.transaction(work);
    };
    const receiver = new Receiver({
      ...services,
      db: { ...services.db, transaction },
      blobs: { ...services.blobs, write: async () => undefined },
    });

    const stored = await Promise.allSettled(
      [...open, failed].map((each) => receiver.store(each, chunks(Buffer.from("text")))),
    );

    assert.deepEqual(
      stored.map(({ status }) => status),
      ["fulfilled", "fulfilled", "fulfilled", "rejected"],
    );
    assert.equal(transactions, 1);
    for (const { id } of open) assert.ok((await findArtifact(services.db, id))?.storedAt);
    assert.equal((await findArtifact(services.db, failed.id))?.storedAt, null);
  });
});
