import assert from "node:assert/strict";
import { before, it } from "node:test";
import { hourMs } from "../../shared/durations.ts";
import { putReceivers } from "../../shared/outbox/store.ts";
import { wakeMessages } from "../../shared/outbox/wake.ts";
import { wakeReceivers } from "../../shared/outbox/wake-store.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openOutboxWorld } from "./world.ts";

describeWorld("messages of a service that was changed", openOutboxWorld, (outbox) => {
  // They rest for ten seconds.
  before(() => outbox.world.clock.freeze());
  const db = () => outbox.services.db;
  /** Messages to two receivers of a service, which they refuse. */
  const refuse = async (count: number) => {
    const id = outbox.newBuildId();
    const receiver = await outbox.newReceiver();
    const { url } = receiver;
    receiver.behave(422);
    await outbox.put(
      url,
      Array.from({ length: count }, (_, at) => ({
        event: `event ${at}`,
        receiver: `service:${id}:${at % 2}`,
        serviceId: id,
      })),
    );
    await outbox.send();
    receiver.behave(200);
    receiver.received.length = 0;
    const isResting = ({ dueAt }: { dueAt: Date }) => dueAt > outbox.world.clock.now();
    const resting = async () =>
      (await outbox.messages()).filter((each) => each.serviceId === id && isResting(each)).length;
    const wake = () =>
      db().transaction((tx) =>
        wakeReceivers(tx, { id, organizationId: outbox.organizationId }, `service:${id}`),
      );
    const tasks = async () =>
      (await db().select().from(db().tables.tasks)).filter((task) => task.subjectId === id);
    return { id, receiver, resting, wake, tasks };
  };

  it("that rest are sent again, a few in each transaction", async () => {
    const other = await refuse(3);
    const { id, receiver, resting, wake, tasks } = await refuse(450);
    await wake();
    const counts = [await resting()];
    let place: Awaited<ReturnType<typeof wakeMessages>>;
    do {
      place = await wakeMessages(outbox.services, id, place);
      counts.push(await resting());
    } while (place);
    await outbox.send();

    assert.deepEqual(counts, [450, 250, 50, 0]);
    assert.equal(new Set(receiver.events()).size, 450);
    assert.equal(receiver.received.length, 450);
    assert.deepEqual(await tasks(), []);
    assert.deepEqual([await other.resting(), other.receiver.received.length], [3, 0]);
  });

  it("are sent again once, though they are refused before the last of them was woken", async () => {
    const { id, receiver, resting, wake } = await refuse(250);
    receiver.behave(422);
    await wake();
    const place = await wakeMessages(outbox.services, id);
    await outbox.send();
    assert.equal(await wakeMessages(outbox.services, id, place), undefined);
    await outbox.send();

    assert.deepEqual([receiver.received.length, await resting()], [250, 250]);
  });

  it("are woken for each change, also if one comes while they are being woken", async () => {
    const { id, resting, wake, tasks } = await refuse(201);
    await wake();
    const place = await wakeMessages(outbox.services, id);
    await wake();
    await wakeMessages(outbox.services, id, place);
    assert.deepEqual([await resting(), (await tasks()).length], [0, 1]);
    await wakeMessages(outbox.services, id);
    assert.deepEqual(await tasks(), []);
    assert.equal(await wakeMessages(outbox.services, id), undefined, "nothing is left to do");
  });

  it("cost one read of their tasks", async () => {
    const { id, resting, wake } = await refuse(2);
    await wake();
    let reads = 0;
    const select = ((...fields: Parameters<ReturnType<typeof db>["select"]>) => {
      reads++;
      return db().select(...fields);
    }) as ReturnType<typeof db>["select"];

    await wakeMessages({ ...outbox.services, db: { ...db(), select } }, id);

    assert.deepEqual([reads, await resting()], [1, 0]);
  });

  it("leave no work if none waits", async () => {
    const { id, wake, tasks } = await refuse(0);
    await wake();
    assert.deepEqual(await tasks(), []);
    const key = `service:${id}`;
    await db().transaction((tx) =>
      putReceivers(tx, outbox.organizationId, [key], new Date(tx.now.getTime() + hourMs)),
    );
    await wake();
    assert.equal((await tasks()).length, 1, "somebody may send to it at this moment");
    await wakeMessages(outbox.services, id);
    assert.deepEqual(await tasks(), []);
  });
});
