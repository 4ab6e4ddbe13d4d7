import { type ConditionContext, factsOfBuild } from "../../shared/conditions/facts.ts";
import type { Facts } from "../../shared/conditions/names.ts";

const person = { id: "u-1", name: "Ada", email: "ada@example.com" };

/** A build of a pull request, of a branch that is not the default one. */
export const exampleContext: ConditionContext = {
  build: {
    id: "b-1",
    number: 42,
    branch: "feature/login",
    commit: "d670460b4b4aece5915caf5c68d12f560a9fe3e4",
    message: "Fix the login\n\n[ci skip]",
    tag: null,
    source: "webhook",
    state: "running",
    sourceEvent: "pull_request",
    sourceAction: "labeled",
    author: person,
    creator: null,
    pullRequest: {
      id: "7",
      baseBranch: "main",
      isDraft: false,
      label: "ready",
      labels: ["ready", "bug"],
      repository: "git@example.com:fork/app.git",
      isFork: true,
    },
    mergeQueue: null,
    isOfFork: false,
    isOfOtherCommit: false,
    triggeredFrom: null,
    rebuiltFrom: null,
  },
  pipeline: {
    id: "p-1",
    slug: "app",
    name: "App",
    defaultBranch: "main",
    repository: "git@example.com:app.git",
  },
  organization: { id: "o-1", slug: "acme" },
  variables: { DEPLOY: "yes", EMPTY: "", BUILDKITE_BRANCH: "given", BUILDKITE_TAG: "given" },
  prefix: "BUILDKITE",
};

/** Of a build of a push: no pull request. */
export const pushContext: ConditionContext = {
  ...exampleContext,
  build: { ...exampleContext.build, branch: "main", pullRequest: null },
};

export const exampleFacts: Facts = factsOfBuild(exampleContext);
export const pushFacts: Facts = factsOfBuild(pushContext);
