import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluateFilter } from "../../../shared/triggers/filter/evaluate.ts";
import { filterInput } from "./filter-input.ts";

const payload = { ref: "refs/heads/x", commits: [{ id: "a1" }], size: 3, text: "é".repeat(300), sender: {} };
const question = { payload, headers: [["X-GitHub-Event", "push"]] as [string, string][] };

function valuesOf(expression: string): (string | undefined)[][] {
  const outcome = evaluateFilter({ ...filterInput(expression, question), explains: true });
  if (!("values" in outcome)) return assert.fail(JSON.stringify(outcome));
  return (outcome.values ?? []).map(({ member, value }) => [member, value]);
}

describe("a verdict that is explained", () => {
  it("comes with each member that the expression names, once", () => {
    assert.deepEqual(
      valuesOf(
        'webhook.payload.ref == "y" || webhook.payload.ref.startsWith("refs/tags/") || webhook.headers["HTTP_X_GITHUB_EVENT"] == "ping"',
      ),
      [
        ["webhook.payload.ref", '"refs/heads/x"'],
        ['webhook.headers["HTTP_X_GITHUB_EVENT"]', '"push"'],
      ],
    );
    assert.deepEqual(valuesOf('webhook.payload.commits[0].id == "b"'), [
      ["webhook.payload.commits[0].id", '"a1"'],
    ]);
  });

  it("says the size of lists and maps, and shortens texts", () => {
    assert.deepEqual(valuesOf("webhook.payload.commits.size() > 3"), [
      ["webhook.payload.commits", "a list of 1"],
    ]);
    assert.deepEqual(valuesOf("webhook.payload.sender.size() == 2 && webhook.payload.size == 3"), [
      ["webhook.payload.sender", "a map of 0"],
      ["webhook.payload.size", "3"],
    ]);
    assert.deepEqual(valuesOf('webhook.payload.text == ""'), [
      ["webhook.payload.text", `"${"é".repeat(200)}"…`],
    ]);
  });

  it("has no value for what is missing", () => {
    assert.deepEqual(valuesOf("has(webhook.payload.gone)"), [["webhook.payload.gone", undefined]]);
  });

  it("has none unless they are asked for", () => {
    assert.deepEqual(evaluateFilter(filterInput('webhook.payload.ref == "y"', question)), { verdict: false });
  });
});
