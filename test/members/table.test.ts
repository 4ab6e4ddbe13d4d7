import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { documentedResources } from "../../ingress/api/resources/documented.ts";
import { withMembers } from "../../shared/members/table.ts";
import { resources } from "./resources.ts";

it("the wire contract has the members of every resource (npm run settings)", () => {
  const page = readFileSync("ingress/api/README.md", "utf8");

  assert.equal(page, withMembers(page, documentedResources));
  const own = ["triggers", "notification services"]; // test/triggers, test/notifications
  const named = [...resources.map(({ name }) => name), ...own];
  assert.deepEqual(Object.keys(documentedResources).sort(), named.sort());
});
