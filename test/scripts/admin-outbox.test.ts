import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { openOutboxWorld } from "../outbox/world.ts";
import { runOperator } from "./operator.ts";

describeWorldOn(sqlite, "admin outbox", openOutboxWorld, (outbox) => {
  const run = async (verb: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runOperator(outbox.world, [
      "outbox",
      verb,
      "--org",
      "acme",
      ...args,
    ]);
    return { code, stderr, body: code === 0 ? JSON.parse(stdout) : undefined };
  };

  it("lists, retries and drops messages, and shows no target", async () => {
    const receiver = await outbox.newReceiver();
    receiver.behave(404);
    await outbox.put(receiver.url, [{ event: "one" }, { event: "two" }]);
    await outbox.send();

    const listed = await run("list", "--state", "waiting");
    assert.deepEqual(
      listed.body.messages.map(({ event, state, tries, answer_status }: Record<string, unknown>) => [
        event,
        state,
        tries,
        answer_status,
      ]),
      [
        ["two", "waiting", 1, 404],
        ["one", "waiting", 1, 404],
      ],
    );
    assert.equal(listed.body.messages[0].host, new URL(receiver.url).host);
    assert.equal(JSON.stringify(listed.body).includes('"target"'), false);
    assert.deepEqual((await run("list")).body, { messages: [] });

    const [two, one] = listed.body.messages.map(({ id }: { id: string }) => id);
    assert.deepEqual((await run("drop", two)).body, { messages: [{ id: two, dropped: true }] });
    receiver.behave((response) => response.end());
    assert.deepEqual((await run("retry", one)).body, { messages: [{ id: one, retried: true }] });
    await outbox.send();
    assert.deepEqual(
      (await outbox.messages(receiver.url)).map(({ state }) => state),
      ["sent", "dropped"],
    );
    assert.deepEqual((await run("retry", "--all")).body, { retried: 0 });
    assert.deepEqual((await run("retry", one, "--all")).body, { retried: 0 });
    assert.match((await run("drop", one)).stderr, /None of these messages waits or has failed/);
    assert.match((await run("retry", "x")).stderr, /It must be an id/);
  });
});
