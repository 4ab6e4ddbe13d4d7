import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { listPages, listTables, withMembers } from "../../shared/members/table.ts";
import { resources } from "./resources.ts";

const pages = listPages().map((page) => readFileSync(page, "utf8"));
const declaration = /^export const (\w+) = \{$(?:(?!^\}).)*^\} satisfies Members</gms;
/** They test their members themselves: test/triggers, test/notifications. */
const own = ["triggerMembers", "notificationServiceMembers"];

it("the wire contract has the members of every resource (npm run settings)", async () => {
  for (const page of pages) assert.equal(page, await withMembers(page));
});

it("every declaration of members has a table and tests", () => {
  const declarations = globSync("shared/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(declaration)].map(([, name]) => name),
  );
  assert.deepEqual(
    pages
      .flatMap(listTables)
      .map(({ name }) => name)
      .sort(),
    declarations.sort(),
  );
  assert.equal(resources.length + own.length, declarations.length);
});
