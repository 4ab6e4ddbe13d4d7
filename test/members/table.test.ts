import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { documentedResources } from "../../ingress/api/resources/documented.ts";
import { withMembers } from "../../shared/members/table.ts";
import { resources } from "./resources.ts";

it("the wire contract has the members of every resource (npm run settings)", () => {
  for (const [page, members] of Object.entries(documentedResources)) {
    const text = readFileSync(page, "utf8");
    assert.equal(text, withMembers(text, members), page);
  }
  const own = ["triggers", "notification services"]; // test/triggers, test/notifications
  const named = [...resources.map(({ name }) => name), ...own];
  const documented = Object.values(documentedResources).flatMap((members) => Object.keys(members));
  assert.deepEqual(documented.sort(), named.sort());
});
