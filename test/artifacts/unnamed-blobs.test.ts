import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, it } from "node:test";
import { eq } from "drizzle-orm";
import { removeUnnamedBlobs } from "../../shared/artifacts/remove-unnamed.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { putSharedValue } from "../../shared/db/shared-values-store.ts";
import { hourMs } from "../../shared/durations.ts";
import { newId } from "../../shared/ids.ts";
import { artifactStates } from "../../shared/vocabulary.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { chunks, expect } from "../blobs/contract.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { leaveArtifact } from "./left-by-job.ts";

describeOnBothDatabases("blobs that no artifact names", (database) => {
  let world: World;
  let job: Awaited<ReturnType<typeof newJob>>;
  beforeEach(async () => {
    world = await startWorld(database);
    job = await newJob(world.services, await setUpOrganization(world));
  });
  afterEach(() => world.close());

  const store = async (name: string) => {
    const bytes = Buffer.from("left");
    await world.services.blobs.write(name, chunks(bytes), expect(bytes));
    return name;
  };
  const isThere = async (name: string) => (await world.services.blobs.find(name)) !== undefined;

  it("are removed an hour after they were stored", async () => {
    const names = await Promise.all(
      Array.from({ length: 5 }, () => store(artifactBlob(newId(world.clock.now())))),
    );

    assert.equal(await removeUnnamedBlobs(world.services), 0);
    world.clock.advance(hourMs + 1000);
    assert.equal(await removeUnnamedBlobs(world.services), 5);

    for (const name of names) assert.equal(await isThere(name), false);
    assert.equal(await removeUnnamedBlobs(world.services), 0);
  });

  it("are those of artifacts that failed, were deleted or expired, and of none that is open or finished", async () => {
    const blobOf = new Map<string, string>();
    for (const state of artifactStates) {
      const { id } = await leaveArtifact(world.services, job, { path: state, state });
      blobOf.set(state, await store(artifactBlob(id)));
    }
    world.clock.advance(hourMs + 1000);

    await removeUnnamedBlobs(world.services);

    const kept: string[] = [];
    for (const [state, name] of blobOf) if (await isThere(name)) kept.push(state);
    assert.deepEqual(kept, ["new", "finished"]);
  });

  it("are not what has another name than artifacts have", async () => {
    const names = await Promise.all(["artifacts/ab/notes.txt", "other/ab/notes.txt"].map(store));
    world.clock.advance(hourMs + 1000);

    await removeUnnamedBlobs(world.services);

    for (const name of names) assert.equal(await isThere(name), true);
  });

  it("stay in the store of another installation", async () => {
    const { db } = world.services;
    const name = await store(artifactBlob(newId(world.clock.now())));
    await removeUnnamedBlobs(world.services); // marks the store
    await db.transaction((tx) => putSharedValue(tx, "installation", randomUUID()));
    world.clock.advance(hourMs + 1000);

    assert.equal(await removeUnnamedBlobs(world.services), 0);

    assert.equal(await isThere(name), true);
    assert.ok(world.logged.some((line) => line.includes("the store of another installation")));
  });

  it("are gone also when their build was deleted with its artifacts", async () => {
    const { db } = world.services;
    const { id } = await leaveArtifact(world.services, job, { path: "a" });
    const name = await store(artifactBlob(id));
    await db.transaction(async (tx) => tx.delete(tx.tables.artifacts).where(eq(tx.tables.artifacts.id, id)));
    world.clock.advance(hourMs + 1000);

    await removeUnnamedBlobs(world.services);

    assert.equal(await isThere(name), false);
  });
});
