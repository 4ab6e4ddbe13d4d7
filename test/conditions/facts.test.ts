import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { factsOfBuild } from "../../shared/conditions/facts.ts";
import { namesInSteps } from "../../shared/conditions/names.ts";
import { exampleContext, exampleFacts, pushContext, pushFacts } from "./example-facts.ts";

const { build } = exampleContext;

describe("the facts of a build", () => {
  it("have a value for every name of steps", () => {
    assert.deepEqual(Object.keys(exampleFacts.values).sort(), [...namesInSteps].sort());
  });

  it("are null without a pull request, a tag, a merge queue and a webhook, and labels are none", () => {
    const { values } = factsOfBuild({
      ...pushContext,
      build: { ...pushContext.build, sourceEvent: null, sourceAction: null, author: null },
    });

    const isNull = Object.entries(values).filter(([, value]) => value === null);
    assert.deepEqual(
      isNull.map(([name]) => name),
      [
        "build.tag",
        "build.source_event",
        "build.source_action",
        "build.author.id",
        "build.author.name",
        "build.author.email",
        "build.creator.id",
        "build.creator.name",
        "build.creator.email",
        "build.merge_queue.base_branch",
        "build.merge_queue.base_commit",
        "build.pull_request.id",
        "build.pull_request.base_branch",
        "build.pull_request.draft",
        "build.pull_request.label",
        "build.pull_request.repository",
        "build.pull_request.repository.fork",
      ],
    );
    assert.deepEqual(values["build.pull_request.labels"], []);
    assert.deepEqual(values["build.author.teams"], []);
  });

  it("read the server's own variables before given ones of the same name", () => {
    const { env } = exampleFacts;
    assert.equal(env("BUILDKITE_BRANCH"), "feature/login");
    assert.equal(env("BUILDKITE_PIPELINE_NAME"), "App");
    assert.equal(env("BUILDKITE_PULL_REQUEST"), "7");
    assert.equal(env("BUILDKITE_PULL_REQUEST_BASE_BRANCH"), "main");
    assert.equal(env("BUILDKITE_PULL_REQUEST_REPO"), "git@example.com:fork/app.git");
    assert.equal(env("BUILDKITE_REPO"), "git@example.com:app.git");
    assert.equal(env("BRANCH"), null);
    assert.equal(env("BUILDKITE_"), null);
  });

  it("read a given variable where the server has none", () => {
    assert.equal(exampleFacts.env("BUILDKITE_TAG"), "given");
    assert.equal(exampleFacts.env("DEPLOY"), "yes");
    assert.equal(exampleFacts.env("EMPTY"), "");
    assert.equal(exampleFacts.env("toString"), null);
  });

  it("have variables of where the build came from", () => {
    const { env } = factsOfBuild({
      ...exampleContext,
      prefix: "OTHER",
      build: {
        ...build,
        tag: "v1",
        mergeQueue: { baseBranch: "main", baseCommit: "abc" },
        triggeredFrom: { id: "b-0", number: 3, pipelineSlug: "lib" },
        rebuiltFrom: { id: "b-9", number: 41 },
      },
    });
    assert.equal(env("OTHER_TAG"), "v1");
    assert.equal(env("OTHER_MERGE_QUEUE_BASE_BRANCH"), "main");
    assert.equal(env("OTHER_MERGE_QUEUE_BASE_COMMIT"), "abc");
    assert.equal(env("OTHER_TRIGGERED_FROM_BUILD_ID"), "b-0");
    assert.equal(env("OTHER_TRIGGERED_FROM_BUILD_NUMBER"), "3");
    assert.equal(env("OTHER_TRIGGERED_FROM_BUILD_PIPELINE_SLUG"), "lib");
    assert.equal(env("OTHER_REBUILT_FROM_BUILD_ID"), "b-9");
    assert.equal(env("OTHER_REBUILT_FROM_BUILD_NUMBER"), "41");
  });

  it("say false for PULL_REQUEST, and have blank or no variables, where the build came from nowhere", () => {
    const { env } = pushFacts;
    assert.equal(env("BUILDKITE_PULL_REQUEST"), "false");
    assert.equal(env("BUILDKITE_PULL_REQUEST_BASE_BRANCH"), "");
    assert.equal(env("BUILDKITE_TRIGGERED_FROM_BUILD_ID"), "");
    assert.equal(env("BUILDKITE_REBUILT_FROM_BUILD_NUMBER"), "");
    assert.equal(env("BUILDKITE_MERGE_QUEUE_BASE_BRANCH"), null);
  });
});
