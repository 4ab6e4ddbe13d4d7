import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contextOfBuild, contextOfJob } from "../../shared/statuses/contexts.ts";

const config = { serviceName: "Signalbox" };
const pipeline = { slug: "web" };
const push = { options: null };
const request = { options: { pull_request: { id: "4" } } };

describe("the context of a status", () => {
  it("is that of the service and the pipeline", () => {
    const settings = { separate_pull_request_statuses: false };
    assert.equal(contextOfBuild(config, pipeline, push, settings), "signalbox/web");
    assert.equal(contextOfBuild(config, pipeline, request, settings), "signalbox/web");
  });

  it("is another for pull requests, if the pipeline parts them", () => {
    const settings = { separate_pull_request_statuses: true };
    assert.equal(contextOfBuild(config, pipeline, push, settings), "signalbox/web");
    assert.equal(contextOfBuild(config, pipeline, request, settings), "signalbox/web/pr");
  });

  const step = {
    type: "script",
    label: "Unit tests",
    command: "make test\nmake lint",
    options: { key: "unit" },
  } as const;
  const cells = [
    [step, false, "signalbox/web/Unit tests"],
    [step, true, "signalbox/web/unit"],
    [{ ...step, options: null }, true, "signalbox/web/Unit tests"],
    [{ ...step, label: null }, false, "signalbox/web/make test"],
    [{ ...step, label: null }, true, "signalbox/web/unit"],
    [
      { type: "trigger", label: null, command: "", options: { trigger: { trigger: "deploy" } } },
      false,
      "signalbox/web/Trigger deploy",
    ],
  ] as const;
  for (const [job, use_step_key_as_commit_status, expected] of cells)
    it(`of a step is ${expected}${use_step_key_as_commit_status ? " by its key" : ""}`, () => {
      assert.equal(contextOfJob("signalbox/web", job as never, { use_step_key_as_commit_status }), expected);
    });

  it("has 255 characters at most, and differs where long ones differ", () => {
    const of = (label: string) =>
      contextOfJob("signalbox/web", { ...step, label } as never, { use_step_key_as_commit_status: false });
    const [first, second] = [of(`${"🙂".repeat(200)}1`), of(`${"🙂".repeat(200)}2`)];
    assert.ok(first.length <= 255 && first.isWellFormed());
    assert.notEqual(first, second);
  });
});
