import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { openApi } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { repeat } from "../helpers/run-mode.ts";

const maxQueues = 3;
const small = "LINUX_AMD64_2X4";

interface Expected {
  id: string;
  key: string;
  description: string;
  shape: string | undefined;
  affinity: string;
  pause: { note: string | null } | undefined;
}

type Command =
  | { does: "create"; key: string; isHosted: boolean }
  | { does: "update"; at: number; description?: string | null; affinity?: string; shape?: string }
  | { does: "pause"; at: number; note?: string | null }
  | { does: "resume"; at: number }
  | { does: "delete"; at: number };

const at = fc.nat(maxQueues);
const text = fc.constantFrom("", "a", "note", null);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    does: fc.constant("create" as const),
    key: fc.constantFrom("a", "A", "b", "c", "d"),
    isHosted: fc.boolean(),
  }),
  fc.record(
    {
      does: fc.constant("update" as const),
      at,
      description: text,
      affinity: fc.constantFrom("prefer-warmest", "prefer-different"),
      shape: fc.constantFrom(small, "LINUX_AMD64_4X16", "LINUX_ARM64_2X4"),
    },
    { requiredKeys: ["does", "at"] },
  ),
  fc.record({ does: fc.constant("pause" as const), at, note: text }, { requiredKeys: ["does", "at"] }),
  fc.record({ does: fc.constant("resume" as const), at }),
  fc.record({ does: fc.constant("delete" as const), at }),
);

/** Returns the expected answer. */
function apply(queues: Expected[], given: Command): { status: number; message?: string } {
  if (given.does === "create") {
    const reasons = [
      queues.some(({ key }) => key === given.key) && "Key has already been taken",
      queues.length === maxQueues && `Cluster has reached its limit of ${maxQueues} queues`,
    ].filter((reason) => reason !== false);
    if (reasons.length > 0) return { status: 422, message: `Validation failed: ${reasons.join(", ")}` };
    const shape = given.isHosted ? small : undefined;
    const made = { id: "", key: given.key, description: "", shape, affinity: "prefer-warmest" };
    queues.push({ ...made, pause: undefined });
    return { status: 201 };
  }

  const queue = queues[given.at];
  if (!queue) return { status: 404, message: "No cluster queue found" };
  if (given.does === "delete") {
    queues.splice(given.at, 1);
    return { status: 204 };
  }
  if (given.does === "pause") {
    if (queue.pause) return { status: 422, message: "Cluster queue is already paused" };
    queue.pause = { note: given.note || null };
    return { status: 200 };
  }
  if (given.does === "resume") {
    if (!queue.pause) return { status: 422, message: "Cluster queue is not paused" };
    queue.pause = undefined;
    return { status: 200 };
  }

  const { shape, description, affinity } = given;
  if (shape !== undefined && queue.shape === undefined)
    return { status: 422, message: "Validation failed: Queue is not hosted" };
  if (shape?.includes("ARM64"))
    return { status: 422, message: `Validation failed: Instance shape cannot be changed to ${shape}` };
  if (shape !== undefined) queue.shape = shape;
  if (description !== undefined) queue.description = description ?? "";
  if (affinity !== undefined && queue.shape === undefined) queue.affinity = affinity;
  return { status: 200 };
}

const open = withSettings(openApi, { QUEUES_PER_CLUSTER: String(maxQueues) });

describeWorld("any sequence of changes to the queues of a cluster", open, (api) => {
  function send(path: string, given: Command, id: string) {
    if (given.does === "create") {
      const hostedAgents = given.isHosted ? { hostedAgents: { instanceShape: small } } : {};
      return api.send("POST", path, { body: { key: given.key, ...hostedAgents } });
    }
    if (given.does === "delete") return api.send("DELETE", `${path}/${id}`);
    if (given.does === "pause")
      return api.send("POST", `${path}/${id}/pause_dispatch`, { body: { dispatch_paused_note: given.note } });
    if (given.does === "resume") return api.send("POST", `${path}/${id}/resume_dispatch`);
    const { description, affinity, shape } = given;
    const hostedAgents = shape === undefined ? undefined : { instanceShape: shape };
    const body = { description, retry_agent_affinity: affinity, hostedAgents };
    return api.send("PATCH", `${path}/${id}`, { body });
  }

  // biome-ignore lint/suspicious/noExplicitAny: a body, compared with what is expected of it
  const seen = (body: any) => ({
    id: body.id,
    key: body.key,
    description: body.description,
    shape: body.hosted_agents?.instance_shape.name,
    affinity: body.retry_agent_affinity,
    pause: body.dispatch_paused ? { note: body.dispatch_paused_note } : undefined,
  });
  const expectedOf = (queue: Expected) => ({
    ...queue,
    affinity: queue.shape === undefined ? queue.affinity : undefined,
  });

  async function assertInvariants(clusterId: string, expected: Expected[]) {
    const { db } = api.world.services;
    const { queues } = db.tables;
    const rows = await db.select().from(queues).where(eq(queues.clusterId, clusterId));
    const living = rows.filter(({ deletedAt }) => deletedAt === null);

    assert.equal(living.length, expected.length);
    assert.equal(new Set(living.map(({ key }) => key)).size, living.length);
    for (const { dispatchPausedAt, dispatchPausedById, dispatchPausedNote } of living) {
      assert.equal(dispatchPausedAt === null, dispatchPausedById === null);
      if (dispatchPausedAt === null) assert.equal(dispatchPausedNote, null);
    }
  }

  it("matches the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 15 }), async (commands) => {
        const cluster = await api.newCluster();
        const path = `/clusters/${cluster.id}/queues`;
        const model: Expected[] = [];

        for (const given of commands) {
          const id = ("at" in given && model[given.at]?.id) || cluster.id;
          const { status, message } = apply(model, given);
          const answer = await send(path, given, id);
          assert.deepEqual([answer.status, answer.body?.message], [status, message], JSON.stringify(given));
          if (status === 201) (model.at(-1) as Expected).id = answer.body.id;
          const changed = model.find((each) => each.id === answer.body?.id);
          if (changed) assert.deepEqual(seen(answer.body), expectedOf(changed));
        }

        const listed = (await api.send("GET", path)).body;
        assert.deepEqual(listed.map(seen), model.map(expectedOf));
        await assertInvariants(cluster.id, model);
      }),
      { numRuns: repeat(4, 30), interruptAfterTimeLimit: 40_000 },
    );
  });
});
