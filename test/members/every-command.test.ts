import assert from "node:assert/strict";
import { it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { type AnyMembers, listMembers } from "../../shared/members/member.ts";
import { describeWorld } from "../helpers/databases.ts";
import { runOperator, sentenceOf } from "../scripts/operator.ts";
import { openResources } from "./open-resources.ts";
import type { Resource } from "./resource.ts";
import { resources } from "./resources.ts";

/** The options that say what a body says. */
function optionsOf(members: AnyMembers, body: Record<string, unknown>): string[] {
  return listMembers(members).flatMap(({ name, option }) =>
    option && body[name] !== undefined
      ? [`--${(option[2] ?? name).replaceAll("_", "-")}`, String(body[name])]
      : [],
  );
}

describeWorld("the operator's command", openResources, (pages) => {
  for (const resource of resources)
    if (resource.command)
      it(`creates, lists, changes and deletes ${resource.name}`, () => test(resource, resource.command));

  async function test({ members, subject, body, change }: Resource, command: Resource["command"]) {
    const { noun, owner, key, plural, input, hasUpdate = true } = command ?? assert.fail();
    const [option, member] = key;
    const run = (verb: string, ...args: string[]) => runOperator(pages, [noun, verb, ...args], { input });
    const admin = async (verb: string, ...args: string[]) => {
      const { code, stdout, stderr } = await run(verb, ...args);
      assert.deepEqual([code, stderr], [0, ""], verb);
      return JSON.parse(stdout);
    };
    const list = async (): Promise<Record<string, string>[]> => (await admin("list", ...owner))[plural];
    const given = body(pages);

    const { id } = await admin("create", ...owner, ...optionsOf(members, given));
    const listed = (await list()).find((row) => row.id === id) ?? assert.fail();
    for (const [name, value] of Object.entries(given)) if (name in listed) assert.equal(listed[name], value);
    const named = [...owner, option, listed[member] ?? ""];
    const changed = optionsOf(members, change);
    if (hasUpdate) assert.partialDeepStrictEqual(await admin("update", ...named, ...changed), change);
    assert.partialDeepStrictEqual(await admin("delete", ...named), { id, deleted: true });

    assert.ok(!(await list()).some((row) => row.id === id));
    assert.match(sentenceOf(await run("delete", ...named)), /^No .* found/);
    const filter = { organizationId: pages.acme.id, subjects: { types: [subject], ids: [id] } as never };
    const entries = await listAuditEvents(pages.services.db, filter, 10);
    const actions = ["deleted", ...(hasUpdate ? ["updated"] : []), "created"];
    assert.deepEqual(
      entries.map(({ event }) => event.action),
      actions,
    );
  }
});
