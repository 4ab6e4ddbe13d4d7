import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openVisits } from "../../shared/tasks/looks.ts";

describe("visits of organizations", () => {
  it("begin behind the last one, and visit each once", async () => {
    const { visit, owners } = openOwners("a", "b", "c");
    assert.deepEqual(await visit("b"), ["a", "b"]);
    assert.deepEqual(await visit(), ["c", "a", "b"]);
    owners.splice(1, 1);
    assert.deepEqual(await visit("a"), ["c", "a"]);
    owners.splice(0, 1);
    assert.deepEqual(await visit(), ["c"]);
  });

  it("read a lone organization, and that there is no other, each once", async () => {
    const { visit, reads } = openOwners("a");
    await visit();
    assert.deepEqual(reads.splice(0), [undefined, "a"]);
    await visit();
    assert.deepEqual(reads, ["a", undefined]);
  });
});

/** Organizations that have work. */
function openOwners(...owners: string[]) {
  const reads: (string | undefined)[] = [];
  const visits = openVisits(async (after) => {
    reads.push(after);
    const organizationId = owners.find((owner) => owner > (after ?? ""));
    return organizationId === undefined ? undefined : { organizationId };
  });
  /** @returns those that were visited, up to the one to stop at */
  const visit = async (stopAt?: string) => {
    const visited: string[] = [];
    await visits(async ({ organizationId }) => {
      visited.push(organizationId);
      return organizationId === stopAt ? "stop" : "go on";
    });
    return visited;
  };
  return { visit, owners, reads };
}
