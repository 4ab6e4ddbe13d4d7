import assert from "node:assert/strict";
import { before, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { agentOperations } from "../../../ingress/agent/operations.ts";
import { restOperations } from "../../../ingress/api/operations.ts";
import type { Operation } from "../../../ingress/operations/operation.ts";
import { isMap } from "../../../shared/collections.ts";
import { type Refusal, validationFailed } from "../../../shared/refusal.ts";
import { toProblems } from "../../../shared/validation.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { everyOperation, fill, freshBulkRebuild, freshRows } from "./every-operation.ts";
import { hostileBodies } from "./hostile-bodies.ts";

/** The checks of bodies need no parts. */
const noParts = {} as never;
const maxAnswerBytes = 16 * 1024;
/** 20, and the one that says how many more there are. */
const maxProblems = 21;

type Body = NonNullable<Operation["body"]>;

function refusalOf({ schema, refuse = validationFailed }: Body, given: unknown): Refusal | undefined {
  const { error } = schema.safeParse(given);
  return error && refuse(...toProblems(error));
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describeWorldOn(sqlite, "a body below 64 KB with much that is wrong", openApi, (api) => {
  let declared: Operation[];
  /** The object that each operation refuses with the most words. */
  const worst = new Map<string, object>();

  before(async () => {
    const { services } = api.world;
    declared = [...restOperations(services), ...agentOperations(services, noParts)];
    Object.assign(api.present, await freshBulkRebuild(api));
    Object.assign(api.present, await freshRows(api));
  });

  function findWorst({ id, body }: Operation): void {
    if (!body) return;
    let longest = 0;
    for (const given of hostileBodies(body.schema)) {
      assert.ok(bytesOf(given) < 64 * 1024, id);
      const refusal = refusalOf(body, given);
      if (!refusal) continue;
      const { message, details, problems } = refusal;
      const start = () => `${id}: ${JSON.stringify(given).slice(0, 200)}: ${message.slice(0, 500)}`;
      assert.ok(bytesOf({ message, ...details }) <= maxAnswerBytes, start());
      assert.ok(problems.length <= maxProblems, start());
      if (message.length <= longest || !isMap(given)) continue;
      longest = message.length;
      worst.set(id, given);
    }
  }

  it("gets a short answer with 20 problems at most, from every operation", async () => {
    for (const each of declared) {
      findWorst(each);
      await setImmediate(); // a connection that stayed idle too long is seen to end before it is used again
    }
    assert.ok(worst.size > 40, [...worst.keys()].join(", "));
  });

  it("is refused by REST with the longest of these answers", async () => {
    const sent: string[] = [];
    for (const { id, method, path } of everyOperation) {
      const body = worst.get(id.replace("ByPatch", ""));
      if (!body) continue;
      const answer = await api.send(method, fill(api, path), { body });

      sent.push(id);
      assert.ok(answer.status >= 400 && answer.status < 500, `${id}: ${answer.status} ${answer.text}`);
      assert.ok(Buffer.byteLength(answer.text) <= maxAnswerBytes, id);
    }
    assert.ok(sent.length > 20, sent.join(", "));
  });
});
