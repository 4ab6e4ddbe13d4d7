import assert from "node:assert/strict";
import { it } from "node:test";
import type { BuildOptions } from "../../../shared/db/schema/builds.ts";
import { updatePipelineIfPresent } from "../../../shared/pipelines/store.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { hooksOf } from "../../pipelines/provider/provider-api.ts";
import { openHosts, sha } from "./open-hosts.ts";

const repository = "https://github.com/acme/site.git";
const pull_request = {
  id: "42",
  title: "Make it faster",
  url: "https://github.com/acme/site/pull/42",
  author: { username: "ada" },
  base_branch: "main",
  repository,
  labels: ["speed", "ui"],
  label: "speed",
  draft: true,
  is_fork: false,
};
const ofRequest: BuildOptions = { pull_request, url: pull_request.url };
const author = { name: "Ada", email: "ada@example.com", username: "ada" };
const shown = {
  id: "42",
  base: "main",
  repository,
  title: "Make it faster",
  url: pull_request.url,
  labels: ["speed", "ui"],
  draft: true,
};

describeWorld("the facts of a build", openHosts, (hosts) => {
  const newPipeline = (steps: object[] = [{ command: "make" }], more: object = {}) =>
    hosts.newPipeline(steps, { repository, ...more });

  it("are in REST, in rebuilds too", async () => {
    const slug = await newPipeline();
    const path = await hosts.report(slug, { branch: "topic", author, options: ofRequest });
    const build = await hosts.must("GET", path);

    assert.deepEqual([build.author, build.pull_request, build.merge_queue], [author, shown, null]);
    assert.deepEqual([build.fork, build.tag], [false, null]);
    const again = await hosts.must("PUT", `${path}/rebuild`);
    assert.deepEqual([again.author, again.pull_request, again.fork], [author, shown, false]);
    await hosts.drain();
  });

  it("are variables of jobs", async () => {
    const slug = await newPipeline();
    const variablesOf = async (options: BuildOptions, branch = "topic") => {
      await hosts.report(slug, { branch, author: { username: "ada", email: "a@example.com" }, options });
      const taken = await hosts.take();
      await hosts.finish(taken);
      const names =
        /^BUILDKITE_(PULL_REQUEST.*|TAG|REFSPEC|MERGE_QUEUE.*|BUILD_AUTHOR.*|PIPELINE_PROVIDER|BRANCH|COMMIT)$/;
      return Object.fromEntries(
        Object.entries(taken.env)
          .filter(([name]) => names.test(name))
          .map(([name, value]) => [name.replace("BUILDKITE_", ""), value]),
      );
    };
    const always = {
      BUILD_AUTHOR: "ada",
      BUILD_AUTHOR_EMAIL: "a@example.com",
      PIPELINE_PROVIDER: "github",
      COMMIT: sha,
    };
    const none = {
      ...always,
      PULL_REQUEST: "false",
      PULL_REQUEST_BASE_BRANCH: "",
      PULL_REQUEST_REPO: "",
      PULL_REQUEST_LABELS: "",
    };

    assert.deepEqual(await variablesOf(ofRequest), {
      ...always,
      BRANCH: "topic",
      PULL_REQUEST: "42",
      PULL_REQUEST_BASE_BRANCH: "main",
      PULL_REQUEST_REPO: repository,
      PULL_REQUEST_LABELS: "speed,ui",
      PULL_REQUEST_DRAFT: "true",
    });
    const refspec = "refs/merge-requests/7/head";
    assert.deepEqual(await variablesOf({ pull_request: { id: "7", refspec } }), {
      ...none,
      BRANCH: "topic",
      PULL_REQUEST: "7",
      REFSPEC: refspec,
    });
    assert.deepEqual(await variablesOf({ tag: "v1" }, "v1"), { ...none, BRANCH: "v1", TAG: "v1" });
    assert.deepEqual(await variablesOf({ merge_queue: { base_branch: "main", base_commit: sha } }), {
      ...none,
      BRANCH: "topic",
      MERGE_QUEUE_BASE_BRANCH: "main",
      MERGE_QUEUE_BASE_COMMIT: sha,
    });
  });

  it("let agents compare a merge group with its base commit, if the pipeline asks for it", async () => {
    const { services } = hosts.api.world;
    const slug = await newPipeline();
    const { id } = await hosts.must("GET", `/pipelines/${slug}`);
    const options: BuildOptions = { merge_queue: { base_branch: "main", base_commit: sha } };
    for (const isAsked of [false, true]) {
      const providerSettings = { use_merge_group_base_commit_for_git_diff_base: isAsked };
      await services.db.transaction((tx) => updatePipelineIfPresent(tx, id, { providerSettings }));
      await hosts.report(slug, { options });
      const taken = await hosts.take();
      assert.equal(taken.env.BUILDKITE_GIT_DIFF_BASE, isAsked ? sha : undefined);
      await hosts.finish(taken);
    }
  });

  it("name the provider as agents know it", async () => {
    await hooksOf(hosts.api).connect("git.acme.example.com");
    for (const [address, provider] of [
      ["git@github.com:acme/site.git", "github"],
      ["https://gitlab.com/acme/site.git", "gitlab"],
      ["ssh://git@codeberg.org/acme/site.git", "github"],
      ["https://bitbucket.org/acme/site.git", "bitbucket"],
      ["https://git.acme.example.com/acme/site.git", "github"],
      ["https://git.example.com/acme/site.git", "git"],
    ]) {
      await hosts.report(await newPipeline(undefined, { repository: address }));
      const taken = await hosts.take();
      assert.equal(taken.env.BUILDKITE_PIPELINE_PROVIDER, provider, address);
      await hosts.finish(taken);
    }
  });

  it("can be asked in conditions, and named by variables", async () => {
    const conditions = [
      ["build.pull_request.id == '42' && build.pull_request.base_branch == 'main'", ofRequest],
      ["build.pull_request.draft && build.pull_request.labels includes 'ui'", ofRequest],
      ["build.pull_request.label == 'speed' && !build.pull_request.repository.fork", ofRequest],
      [`build.pull_request.repository == '${repository}'`, ofRequest],
      ["build.author.name == 'Ada' && build.author.email == 'ada@example.com'", {}],
      ["build.tag == 'v1'", { tag: "v1" }],
      ["build.merge_queue.base_branch == 'main'", { merge_queue: { base_branch: "main", base_commit: sha } }],
      ["build.env('BUILDKITE_MERGE_QUEUE_BASE_COMMIT') == null && build.merge_queue.base_commit == null", {}],
      ["build.pull_request.repository.fork", { ...ofRequest, is_fork: true }],
    ] as const;
    for (const [condition, options] of conditions) {
      const slug = await newPipeline([
        { label: "yes", command: "a", if: condition },
        { label: "$BUILDKITE_PULL_REQUEST $BUILDKITE_TAG", command: "b", if: `!(${condition})` },
      ]);
      const path = await hosts.report(slug, { author, options });
      assert.deepEqual(await hosts.states(slug), ["scheduled", "scheduled", "broken"], condition);
      const { jobs } = await hosts.must("GET", path);
      const { pull_request: request, tag = "" } = options as BuildOptions;
      assert.equal(jobs[1].name, `${request?.id ?? "false"} ${tag}`, condition);
      await hosts.drain();
    }
  });

  it("pass on to triggered builds, which do not check another commit's request out", async () => {
    const other = "https://github.com/acme/other.git";
    const merge_queue = { base_branch: "main", base_commit: sha };
    const options: BuildOptions = { ...ofRequest, merge_queue, tag: "v1" };
    const commit = "$BUILDKITE_COMMIT";
    const branch = "$BUILDKITE_BRANCH";
    for (const [title, target, build, has] of [
      ["of the same commit", repository, { commit, branch }, { tag: "v1", number: "42", base: "main" }],
      ["of another branch", repository, { commit, branch: "x" }, { tag: null, number: "42", base: "main" }],
      ["of the head", repository, undefined, { tag: null, number: "false", base: undefined }],
      ["of another repository", other, { commit, branch }, { tag: null, number: "false", base: undefined }],
    ] as const) {
      const child = await newPipeline(undefined, { repository: target });
      await hosts.report(await newPipeline([{ trigger: child, build }]), { author, branch: "v1", options });
      const made = await hosts.show(child);
      assert.deepEqual([made.author, made.pull_request, made.tag], [author, shown, has.tag], title);
      assert.deepEqual(made.merge_queue, merge_queue, title);
      const taken = await hosts.take();
      const { BUILDKITE_PULL_REQUEST, BUILDKITE_MERGE_QUEUE_BASE_BRANCH } = taken.env;
      assert.deepEqual(
        [BUILDKITE_PULL_REQUEST, BUILDKITE_MERGE_QUEUE_BASE_BRANCH],
        [has.number, has.base],
        title,
      );
      await hosts.finish(taken);
    }
  });

  it("give way to the request that a trigger step names", async () => {
    const child = await newPipeline();
    const env = { BUILDKITE_PULL_REQUEST: "17" };
    await hosts.report(await newPipeline([{ trigger: child, build: { env } }]), { options: ofRequest });
    assert.equal((await hosts.show(child)).pull_request.id, "17");
    const taken = await hosts.take();
    assert.equal(taken.env.BUILDKITE_PULL_REQUEST, "17");
    await hosts.finish(taken);
  });

  it("find builds of a pull request", async () => {
    const slug = await newPipeline();
    await hosts.report(slug, { options: ofRequest });
    await hosts.report(slug);
    await hosts.build(slug, { pull_request_id: 42 });
    await hosts.build(slug, { env: { BUILDKITE_PULL_REQUEST: "42" } });
    await hosts.build(slug, { pull_request_id: 4 });
    const numbers = async (path: string) =>
      (await hosts.must("GET", path)).map(({ number }: { number: number }) => number);

    const list = `/pipelines/${slug}/builds?pull_request=42`;
    assert.deepEqual(await numbers(list), [4, 3, 1]);
    assert.deepEqual(await numbers(`${list}&state=scheduled&commit=${sha}`), [1]);
    assert.deepEqual(await numbers(`/pipelines/${slug}/builds?pull_request=5`), []);
    assert.equal((await numbers("/builds?pull_request=4")).length, 1);
    for (const given of ["0", "x", "99999999999"]) {
      const { status, body } = await hosts.send("GET", `/builds?pull_request=${given}`);
      assert.equal(status, 422);
      assert.match(JSON.stringify(body), /pull_request must be the number of a pull request/);
    }
    await hosts.drain();
  });
});
