import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JobContext, jobEnvironment, unsentNames } from "../../../shared/agents/job-environment.ts";
import { newScriptJob } from "../../../shared/builds/making/jobs.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { createCipher } from "../../../shared/crypto/cipher.ts";
import { sealedPlaces } from "../../../shared/crypto/sealed-places.ts";
import { type Environment, sealEnvironment } from "../../../shared/pipelines/environment.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { readConfig } from "../../../shared/settings/config.ts";
import type { StepCheckout } from "../../../shared/vocabulary.ts";

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
  isCommitReported?: boolean;
  sshKey?: string;
}

function contextOf(given: Given = {}): JobContext {
  const { pipeline, build, job, agent, creator, rebuiltFrom, settings } = given;
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
    provider: null,
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
    isCommitReported: given.isCommitReported ?? false,
    sshKey: given.sshKey,
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
      build: { environmentSealed: seal({ B: "build", C: "build" }) },
      job: { options: { env: { C: "step" } } },
    });
    assert.deepEqual([env.A, env.B, env.C], ["pipeline", "build", "step"]);
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
      BUILDKITE_PULL_REQUEST_DRAFT: "true",
    };
    const other = Object.fromEntries(Object.keys(of).map((name) => [name, "x"]));

    const env = envOf({ build: { environmentSealed: seal(of) }, job: { options: { env: other } } });

    for (const [name, value] of Object.entries(of)) assert.equal(env[name], value, name);
    const without = envOf({ job: { options: { env: other } } });
    assert.equal(without.BUILDKITE_PULL_REQUEST, "false");
    assert.ok(!Object.hasOwn(without, "BUILDKITE_PULL_REQUEST_DRAFT"));
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
    assert.deepEqual(JSON.parse(env.BUILDKITE_PLUGINS ?? ""), [
      { "github.com/buildkite-plugins/a-buildkite-plugin#v1": null },
      { "github.com/buildkite-plugins/b-buildkite-plugin#v1": { c: [1] } },
    ]);
    assert.deepEqual([env.BUILDKITE_PARALLEL_JOB, env.BUILDKITE_PARALLEL_JOB_COUNT], ["1", "3"]);
  });

  it("have plugins under the addresses from which agents clone them, as uploads write them", () => {
    const addresses = {
      kubernetes: "github.com/buildkite-plugins/kubernetes-buildkite-plugin",
      "thing#main": "github.com/buildkite-plugins/thing-buildkite-plugin#main",
      "thing#a/b:c#d": "github.com/buildkite-plugins/thing-buildkite-plugin#a/b:c#d",
      "my-org/thing": "github.com/my-org/thing-buildkite-plugin",
      "github.com/my-org/thing-buildkite-plugin#v1": "github.com/my-org/thing-buildkite-plugin#v1",
    };
    const unchanged = [
      ...[
        "./.buildkite/plugins/rock",
        ".\\.buildkite\\rock",
        "C:\\llamas\\rock",
        "/a-plugin",
        "/my-org/a-plugin",
      ],
      ...[
        "https://my-plugin.git",
        "file:///Users/user/my-plugin.git",
        "ssh://git@github.com:a/b.git",
        "my:plugin",
      ],
      ...["git@github.com:a/private-buildkite-plugin.git", "gitlab.com/a/b/c#v1", ""],
    ];
    const all = [...Object.entries(addresses), ...unchanged.map((source) => [source, source] as const)];
    for (const [source, address] of all)
      for (const given of [source, { [source]: { a: 1 } }]) {
        const { BUILDKITE_PLUGINS = "" } = envOf({ job: { options: { plugins: [given] } } });
        const settings = given === source ? null : { a: 1 };
        assert.deepEqual(JSON.parse(BUILDKITE_PLUGINS), [{ [address]: settings }], source);
      }
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

  it("say that the commit is resolved, once a job has reported a whole one", () => {
    const resolved = (commit: string, isCommitReported: boolean, env = {}) =>
      envOf({ build: { commit }, isCommitReported, job: { options: { env } } }).BUILDKITE_COMMIT_RESOLVED;
    assert.equal(resolved("a".repeat(40), true), "true");
    assert.equal(resolved("a".repeat(64), true), "true");
    assert.equal(resolved("HEAD", true), undefined);
    assert.equal(resolved("abcdef0", true), undefined);
    assert.equal(resolved("a".repeat(40), false, { BUILDKITE_COMMIT_RESOLVED: "true" }), undefined);
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

describe("the variables of a checkout", () => {
  const repository = "https://git.example.com/site.git";
  const given = (checkout: StepCheckout, more: Given = {}, env?: Environment) =>
    envOf({
      ...more,
      pipeline: { repository, ...more.pipeline },
      job: { options: { checkout, ...(env && { env }) } },
    });
  const names = /^BUILDKITE_(?:SKIP_CHECKOUT|BOOTSTRAP_PHASES|GIT_)/;
  const variables = (env: Environment) =>
    Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)));

  it("are absent where the step says nothing", () => {
    assert.deepEqual(variables(given({})), {});
  });

  it("have the members of the step", () => {
    const checkout: StepCheckout = {
      skip: false,
      submodules: false,
      lfs: true,
      commit_verification: "strict",
      flags: { clone: "--filter=blob:none", fetch: "-v", checkout: "", clean: "-x" },
      sparse: { paths: [".ci/", "src/"] },
    };
    assert.deepEqual(variables(given(checkout)), {
      BUILDKITE_SKIP_CHECKOUT: "false",
      BUILDKITE_GIT_SUBMODULES: "false",
      BUILDKITE_GIT_LFS_ENABLED: "true",
      BUILDKITE_GIT_COMMIT_VERIFICATION: "strict",
      BUILDKITE_GIT_CLONE_FLAGS: "--filter=blob:none",
      BUILDKITE_GIT_FETCH_FLAGS: "-v",
      BUILDKITE_GIT_CHECKOUT_FLAGS: "",
      BUILDKITE_GIT_CLEAN_FLAGS: "-x",
      BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: ".ci/,src/",
    });
  });

  it("win over all others if they say skip, submodules and lfs", () => {
    const env = {
      BUILDKITE_SKIP_CHECKOUT: "true",
      BUILDKITE_GIT_SUBMODULES: "true",
      BUILDKITE_GIT_LFS_ENABLED: "true",
    };
    const expected = Object.fromEntries(Object.keys(env).map((name) => [name, "false"]));
    const checkout = { skip: false, submodules: false, lfs: false };
    assert.deepEqual(variables(given(checkout, {}, env)), expected);
    assert.deepEqual(variables(given({}, {}, env)), env);
  });

  it("give way to those of the step otherwise, and not to those of build and pipeline", () => {
    const checkout: StepCheckout = {
      flags: { clone: "c", clean: "c" },
      sparse: { paths: ["c"] },
      commit_verification: "strict",
    };
    const flags = (value: string) => ({
      BUILDKITE_GIT_CLONE_FLAGS: value,
      BUILDKITE_GIT_CLEAN_FLAGS: value,
      BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: value,
      BUILDKITE_GIT_COMMIT_VERIFICATION: value,
    });
    const build = { environmentSealed: seal(flags("b")) };
    const pipeline = { repository, environmentSealed: sealOfPipeline(flags("p")) };

    assert.deepEqual(variables(given(checkout, { build, pipeline })), {
      ...flags("c"),
      BUILDKITE_GIT_COMMIT_VERIFICATION: "strict",
    });
    assert.deepEqual(variables(given(checkout, { build, pipeline }, flags("s"))), flags("s"));
  });

  it("have the depth behind the options of clone and fetch, wherever these come from", () => {
    const flagsOf = (env: Environment) => [env.BUILDKITE_GIT_CLONE_FLAGS, env.BUILDKITE_GIT_FETCH_FLAGS];
    assert.deepEqual(flagsOf(given({ depth: 5 })), ["--depth=5", "--depth=5"]);
    const flags = { clone: "-v", clean: "-x" };
    assert.deepEqual(flagsOf(given({ depth: 5, flags })), ["-v --depth=5", "--depth=5"]);
    const own = { BUILDKITE_GIT_CLONE_FLAGS: "-q", BUILDKITE_GIT_FETCH_FLAGS: "--tags" };
    assert.deepEqual(flagsOf(given({ depth: 5, flags }, {}, own)), ["-q --depth=5", "--tags --depth=5"]);
  });

  it("skip it at old agents by a phase too", () => {
    const agent = { version: "3.115.0" };
    const skipped = { BUILDKITE_SKIP_CHECKOUT: "true", BUILDKITE_BOOTSTRAP_PHASES: "plugin,command" };
    assert.deepEqual(variables(given({ skip: true }, { agent })), skipped);
    assert.deepEqual(variables(given({ skip: false }, { agent })), { BUILDKITE_SKIP_CHECKOUT: "false" });
    assert.deepEqual(variables(given({ skip: true })), { BUILDKITE_SKIP_CHECKOUT: "true" });
  });

  it("always skip it without a repository", () => {
    for (const skip of [true, false]) {
      const none = { pipeline: { repository: null } };
      assert.deepEqual(variables(given({ skip }, none)), { BUILDKITE_SKIP_CHECKOUT: "true" });
      assert.deepEqual(variables(given({ skip }, { ...none, agent: { version: "3.20.0" } })), {
        BUILDKITE_BOOTSTRAP_PHASES: "plugin,command",
      });
    }
  });

  it("have the SSH key for the agent alone, and no other in its place", () => {
    const own = { BUILDKITE_GIT_SSH_KEY: "own" };
    const checkout = { ssh_secret: "KEY" };
    assert.deepEqual(variables(given(checkout, { sshKey: "k" }, own)), { BUILDKITE_GIT_SSH_KEY: "k" });
    assert.deepEqual(variables(given(checkout, {}, own)), {});
    assert.deepEqual(variables(given({}, {}, own)), own);
  });

  it("begin with AGENT_ENV_PREFIX", () => {
    const settings = { AGENT_ENV_PREFIX: "RAIL" };
    const checkout: StepCheckout = { skip: false, depth: 1, sparse: { paths: ["a"] }, ssh_secret: "KEY" };
    const env = given(checkout, { settings, sshKey: "k" }, { RAIL_GIT_CLONE_FLAGS: "-q" });
    const ofCheckout = Object.entries(env).filter(([name]) => /GIT_|SKIP/.test(name));
    assert.deepEqual(Object.fromEntries(ofCheckout), {
      RAIL_SKIP_CHECKOUT: "false",
      RAIL_GIT_CLONE_FLAGS: "-q --depth=1",
      RAIL_GIT_FETCH_FLAGS: "--depth=1",
      RAIL_GIT_SPARSE_CHECKOUT_PATHS: "a",
      RAIL_GIT_SSH_KEY: "k",
    });
  });
});
