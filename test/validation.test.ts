import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newBuild } from "../shared/builds/making/by-request.ts";
import { pipelineMembers } from "../shared/pipelines/members.ts";
import { description, maxLengthOf, queueKey, requiredText } from "../shared/validation.ts";

describe("the longest text of a schema", () => {
  it("is found below null, absence and transformations", () => {
    assert.equal(maxLengthOf(requiredText("Name", 7)), 7);
    assert.equal(maxLengthOf(queueKey), 100);
    assert.equal(maxLengthOf(description), 2000);
    assert.equal(maxLengthOf(newBuild.shape.message), 10_000);
    assert.equal(maxLengthOf(pipelineMembers.repository.create), 2000);
  });

  it("is missing where no text is taken", () => {
    assert.throws(() => maxLengthOf(pipelineMembers.environment.create), /no longest text/);
  });
});
