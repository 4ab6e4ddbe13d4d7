import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JobContext, jobEnvironment, unsentNames } from "../../shared/agents/job-environment.ts";
import type { Job } from "../../shared/builds/job-store.ts";
import { newScriptJob } from "../../shared/builds/new-jobs.ts";
import type { Build } from "../../shared/builds/store.ts";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { type Environment, sealEnvironment } from "../../shared/pipelines/environment.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import { readConfig } from "../../shared/process/config.ts";

const secretKey = "a key for tests that is at least 32 characters";
const cipher = createCipher(secretKey);
const createdAt = new Date("2026-01-31T12:00:00Z");
const { variablesOfBuilds, variablesOfPipeline } = sealedPlaces;
const seal = (environment: Environment) => sealEnvironment(cipher, environment, variablesOfBuilds);
const sealOfPipeline = (environment: Environment) =>
  sealEnvironment(cipher, environment, variablesOfPipeline("pipeline"));

interface Given {
  pipeline?: Partial<Pipeline>;
  build?: Partial<Build>;
  job?: Partial<Job>;
  agent?: Partial<JobContext["agent"]>;
  creator?: JobContext["creator"];
  rebuiltFrom?: JobContext["rebuiltFrom"];
  settings?: Record<string, string>;
}

function contextOf({ pipeline, build, job, agent, creator, rebuiltFrom, settings }: Given = {}): JobContext {
  return {
    config: readConfig({ SECRET_KEY: secretKey, PUBLIC_URL: "https://ci.example.com", ...settings }),
    cipher,
    organization: { id: "organization", slug: "acme" } as JobContext["organization"],
    pipeline: {
      id: "pipeline",
      slug: "web",
      name: "Web",
      defaultBranch: "trunk",
      repository: null,
      environmentSealed: null,
      ...pipeline,
    } as Pipeline,
    build: {
      id: "build",
      number: 7,
      branch: "topic",
      commit: "HEAD",
      message: "Hello",
      source: "webhook",
      environment: {},
      environmentSealed: null,
      author: null,
      ...build,
    } as Build,
    job: { ...newScriptJob({ id: "job", buildId: "build", createdAt }), command: "make", ...job },
    agent: { id: "agent", name: "one", version: "3.137.0", metaData: [], ...agent } as JobContext["agent"],
    creator,
    rebuiltFrom,
    unblocker: undefined,
    clusterName: "Default",
  };
}

const envOf = (given: Given = {}) => jobEnvironment(contextOf(given));

describe("the variables of a job", () => {
  it("have every name that agents insist on, none of them empty", () => {
    const env = envOf({ agent: { name: "" } });
    for (const name of [
      "JOB_ID",
      "REPO",
      "COMMIT",
      "BRANCH",
      "AGENT_NAME",
      "ORGANIZATION_SLUG",
      "PIPELINE_SLUG",
      "PIPELINE_PROVIDER",
    ])
      assert.ok(env[`BUILDKITE_${name}`], name);
    assert.equal(env.BUILDKITE_PIPELINE_PROVIDER, "git");
  });

  it("name no unblocker that a caller made up", () => {
    const env = envOf({
      job: { options: { env: { BUILDKITE_UNBLOCKER_EMAIL: "boss@example.com", OWN: "1" } } },
    });
    assert.deepEqual([env.BUILDKITE_UNBLOCKER_EMAIL, env.OWN], [undefined, "1"]);
  });

  it("tell of the build, the pipeline, the step and the agent", () => {
    const { SIGNALBOX, ...env } = envOf({
      build: { author: { name: "Ada", email: "ada@example.com" } },
      rebuiltFrom: { id: "earlier", number: 6 },
      job: {
        label: "Test",
        options: { key: "test", timeout_in_minutes: 5 },
        retriesCount: 2,
        retryType: "manual",
      },
      creator: { name: "Grace", email: "grace@example.com" } as JobContext["creator"],
    });

    assert.equal(SIGNALBOX, "true");
    assert.deepEqual(env, {
      CI: "true",
      BUILDKITE: "true",
      SIGNALBOX_ORGANIZATION_SLUG: "acme",
      SIGNALBOX_PIPELINE_SLUG: "web",
      SIGNALBOX_BUILD_ID: "build",
      SIGNALBOX_BUILD_NUMBER: "7",
      SIGNALBOX_BRANCH: "topic",
      SIGNALBOX_COMMIT: "HEAD",
      SIGNALBOX_MESSAGE: "Hello",
      SIGNALBOX_SOURCE: "webhook",
      SIGNALBOX_JOB_ID: "job",
      BUILDKITE_ORGANIZATION_ID: "organization",
      BUILDKITE_ORGANIZATION_SLUG: "acme",
      BUILDKITE_PIPELINE_ID: "pipeline",
      BUILDKITE_PIPELINE_SLUG: "web",
      BUILDKITE_PIPELINE_NAME: "Web",
      BUILDKITE_PIPELINE_DEFAULT_BRANCH: "trunk",
      BUILDKITE_PIPELINE_PROVIDER: "git",
      BUILDKITE_BUILD_ID: "build",
      BUILDKITE_BUILD_NUMBER: "7",
      BUILDKITE_BUILD_URL: "https://ci.example.com/organizations/acme/pipelines/web/builds/7",
      BUILDKITE_BUILD_CREATOR: "Grace",
      BUILDKITE_BUILD_CREATOR_EMAIL: "grace@example.com",
      BUILDKITE_BUILD_AUTHOR: "Ada",
      BUILDKITE_BUILD_AUTHOR_EMAIL: "ada@example.com",
      BUILDKITE_REBUILT_FROM_BUILD_ID: "earlier",
      BUILDKITE_REBUILT_FROM_BUILD_NUMBER: "6",
      BUILDKITE_TRIGGERED_FROM_BUILD_ID: "",
      BUILDKITE_TRIGGERED_FROM_BUILD_NUMBER: "",
      BUILDKITE_TRIGGERED_FROM_BUILD_PIPELINE_SLUG: "",
      BUILDKITE_BRANCH: "topic",
      BUILDKITE_COMMIT: "HEAD",
      BUILDKITE_MESSAGE: "Hello",
      BUILDKITE_SOURCE: "webhook",
      BUILDKITE_PULL_REQUEST: "false",
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: "",
      BUILDKITE_PULL_REQUEST_LABELS: "",
      BUILDKITE_PULL_REQUEST_REPO: "",
      BUILDKITE_JOB_ID: "job",
      BUILDKITE_COMMAND: "make",
      BUILDKITE_LABEL: "Test",
      BUILDKITE_STEP_ID: "job",
      BUILDKITE_STEP_KEY: "test",
      BUILDKITE_STEP_IDENTIFIER: "test",
      BUILDKITE_RETRY_COUNT: "2",
      BUILDKITE_RETRY_TYPE: "manual",
      BUILDKITE_TIMEOUT: "5",
      BUILDKITE_AGENT_ID: "agent",
      BUILDKITE_CLUSTER_NAME: "Default",
      BUILDKITE_COMPUTE_TYPE: "self-hosted",
      BUILDKITE_AGENT_NAME: "one",
      BUILDKITE_REPO: "none",
      BUILDKITE_SKIP_CHECKOUT: "true",
    });
  });

  it("are text, and absent where there is nothing to say", () => {
    const env = envOf();
    for (const [name, value] of Object.entries(env)) assert.equal(typeof value, "string", name);
    for (const name of ["LABEL", "STEP_KEY", "PLUGINS", "PARALLEL_JOB", "BUILD_CREATOR", "RETRY_TYPE"])
      assert.ok(!Object.hasOwn(env, `BUILDKITE_${name}`), name);
    assert.deepEqual([env.BUILDKITE_RETRY_COUNT, env.BUILDKITE_TIMEOUT], ["0", "false"]);
  });

  it("of the step win over those of the build, and these over the pipeline's", () => {
    const env = envOf({
      pipeline: { environmentSealed: sealOfPipeline({ A: "pipeline", B: "pipeline", C: "pipeline" }) },
      build: { environment: { B: "clear", D: "clear" }, environmentSealed: seal({ B: "build", C: "build" }) },
      job: { options: { env: { C: "step" } } },
    });
    assert.deepEqual([env.A, env.B, env.C, env.D], ["pipeline", "build", "step", "clear"]);
  });

  it("of the server are replaced by nothing, also where the server sets none", () => {
    const given = {
      CI: "no",
      SIGNALBOX_COMMIT: "x",
      SIGNALBOX_OTHER: "x",
      BUILDKITE: "no",
      BUILDKITE_COMMIT: "x",
      BUILDKITE_REPO: "x",
      BUILDKITE_PLUGINS: "[]",
      BUILDKITE_BOOTSTRAP_PHASES: "checkout",
      BUILDKITE_AGENT_META_DATA_QUEUE: "x",
    };
    const plain = envOf();

    assert.deepEqual(envOf({ build: { environmentSealed: seal(given) } }), plain);
  });

  it("of a build name its tag and its pull request, which those of a step do not", () => {
    const of = {
      BUILDKITE_TAG: "v1",
      BUILDKITE_PULL_REQUEST: "7",
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: "main",
    };
    const other = Object.fromEntries(Object.keys(of).map((name) => [name, "x"]));

    const env = envOf({ build: { environmentSealed: seal(of) }, job: { options: { env: other } } });

    for (const [name, value] of Object.entries(of)) assert.equal(env[name], value, name);
    assert.equal(envOf({ job: { options: { env: other } } }).BUILDKITE_PULL_REQUEST, "false");
  });

  it("pass through every other name", () => {
    const given = { BUILDKITE_CLEAN_CHECKOUT: "true", DEPLOY: "" };
    const env = envOf({ job: { options: { env: given } } });
    assert.deepEqual([env.BUILDKITE_CLEAN_CHECKOUT, env.DEPLOY], ["true", ""]);
  });

  it("leave out the names that agents protect, which unsentNames lists", () => {
    const given = {
      pipeline: { environmentSealed: sealOfPipeline({ BUILDKITE_AGENT_TOKEN: "x", A: "a" }) },
      build: { environmentSealed: seal({ BUILDKITE_SHELL: "x", BUILDKITE_GIT_MIRRORS_PATH: "x" }) },
      job: { options: { env: { BUILDKITE_AGENT_ACCESS_TOKEN: "x", BUILDKITE_SHELL: "x", SHELL: "s" } } },
    };
    const names = [
      "BUILDKITE_AGENT_ACCESS_TOKEN",
      "BUILDKITE_AGENT_TOKEN",
      "BUILDKITE_GIT_MIRRORS_PATH",
      "BUILDKITE_SHELL",
    ];

    assert.deepEqual(unsentNames(contextOf(given)), names);
    const env = envOf(given);
    for (const name of names) assert.ok(!Object.hasOwn(env, name), name);
    assert.deepEqual([env.A, env.SHELL], ["a", "s"]);
    assert.deepEqual(unsentNames(contextOf()), []);
  });

  it("have the agent's tags", () => {
    const env = envOf({ agent: { metaData: ["queue=default", "os.name=Linux=6", "gpu"] } });
    assert.equal(env.BUILDKITE_AGENT_META_DATA_QUEUE, "default");
    assert.equal(env.BUILDKITE_AGENT_META_DATA_OS_NAME, "Linux=6");
    assert.equal(env.BUILDKITE_AGENT_META_DATA_GPU, "");
  });

  it("have plugins as JSON, and the place among parallel jobs", () => {
    const plugins = ["a#v1", { "b#v1": { c: [1] } }];
    const env = envOf({ job: { options: { plugins, parallel: { index: 1, total: 3 } } } });
    assert.equal(env.BUILDKITE_PLUGINS, '["a#v1",{"b#v1":{"c":[1]}}]');
    assert.deepEqual([env.BUILDKITE_PARALLEL_JOB, env.BUILDKITE_PARALLEL_JOB_COUNT], ["1", "3"]);
  });

  it("have an empty command if plugins bring it", () => {
    assert.equal(envOf({ job: { command: "" } }).BUILDKITE_COMMAND, "");
  });

  for (const [version, name, value] of [
    ["3.20.0", "BOOTSTRAP_PHASES", "plugin,command"],
    ["3.115.9", "BOOTSTRAP_PHASES", "plugin,command"],
    ["unknown", "BOOTSTRAP_PHASES", "plugin,command"],
    ["3.116.0", "SKIP_CHECKOUT", "true"],
    ["3.137.0", "SKIP_CHECKOUT", "true"],
    ["4.0.0-beta.1", "SKIP_CHECKOUT", "true"],
  ] as const)
    it(`without a repository let an agent ${version} skip the checkout by ${name}`, () => {
      const env = envOf({ agent: { version } });
      assert.equal(env.BUILDKITE_REPO, "none");
      const others = ["SKIP_CHECKOUT", "BOOTSTRAP_PHASES"].filter((each) => each !== name);
      assert.equal(env[`BUILDKITE_${name}`], value);
      for (const other of others) assert.equal(env[`BUILDKITE_${other}`], undefined);
    });

  it("with a repository leave the checkout to the agent and the step", () => {
    const repository = "https://git.example.com/site.git";
    const env = envOf({ pipeline: { repository } });
    assert.equal(env.BUILDKITE_REPO, repository);
    assert.equal(env.BUILDKITE_SKIP_CHECKOUT, undefined);
    const job = { options: { env: { BUILDKITE_SKIP_CHECKOUT: "true" } } };
    assert.equal(envOf({ pipeline: { repository }, job }).BUILDKITE_SKIP_CHECKOUT, "true");
  });

  it("begin with AGENT_ENV_PREFIX", () => {
    const settings = { AGENT_ENV_PREFIX: "RAIL" };
    const given = { RAIL_AGENT_TOKEN: "x", RAIL_COMMIT: "x", BUILDKITE_SHELL: "/bin/sh" };
    const env = envOf({ settings, job: { options: { env: given } } });
    assert.deepEqual([env.RAIL, env.RAIL_COMMAND, env.RAIL_COMMIT], ["true", "make", "HEAD"]);
    assert.equal(env.BUILDKITE_SHELL, "/bin/sh");
    assert.deepEqual(
      Object.keys(env).filter((name) => name.startsWith("BUILDKITE")),
      ["BUILDKITE_SHELL"],
    );
    assert.deepEqual(unsentNames(contextOf({ settings, job: { options: { env: given } } })), [
      "RAIL_AGENT_TOKEN",
    ]);
  });

  it("leave out those whose key is gone", () => {
    const other = createCipher("another key that is at least 32 characters");
    const lost = sealEnvironment(other, { A: "a" }, variablesOfBuilds);
    assert.deepEqual(
      envOf({ pipeline: { environmentSealed: lost }, build: { environmentSealed: lost } }),
      envOf(),
    );
  });
});
