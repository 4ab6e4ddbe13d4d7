import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, it } from "node:test";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { type Form, forms, openGitWorld } from "./git-world.ts";

const hasGit = (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "git")));
const skip = !hasGit && "there is no git on the PATH";
const pushes = 200;

describeWorld("a push with real git", openGitWorld, (world) => {
  before(async () => {
    const secret = { key: "DEPLOY_KEY", value: "a value that strangers must not see" };
    const made = await world.send("POST", `/clusters/${world.acme.cluster.id}/secrets`, { body: secret });
    assert.equal(made.status, 201, made.text);
  });

  for (const form of Object.keys(forms) as Form[]) {
    it(`of a branch is built at its commit, as ${form} reports it`, { skip }, async () => {
      const { repository, push, ended, reasons } = await world.pipeline(form);
      const first = await repository.commit("Make it faster");
      await push("HEAD", "refs/heads/faster");
      await repository.commit("Later");
      await repository.git("push", "--quiet", "origin", "HEAD:refs/heads/faster");

      const { build, log } = await ended(1);

      assert.deepEqual([build.branch, build.commit, build.message], ["faster", first, "Make it faster"]);
      assert.match(log, new RegExp(`HEAD is ${first} of ${first}\n`));
      assert.match(log, /branch faster, tag , request false\na secret\n/);
      assert.equal((await reasons())[0], null);
    });

    it(`of a tag is built at its commit, and a deletion is not, as ${form} reports them`, {
      skip,
    }, async () => {
      const { repository, push, ended, reasons } = await world.pipeline(form, { build_tags: true });
      const commit = await repository.commit("Release it");
      await repository.git("tag", "light");
      await repository.git("tag", "--annotate", "--message", "Version 1", "v1");
      await push("refs/tags/light", "refs/tags/light");
      await push("refs/tags/v1", "refs/tags/v1");
      await push("HEAD", "refs/heads/side");
      await push("", "refs/heads/side");
      await push("", "refs/tags/light");

      assert.deepEqual(await reasons(), [null, null, null, "branch_deleted", "branch_deleted"]);
      for (const [number, tag] of [
        [1, "light"],
        [2, "v1"],
      ] as const) {
        const { build, log } = await ended(number);
        assert.deepEqual([build.branch, build.commit, build.tag], [tag, commit, tag]);
        assert.match(log, new RegExp(`HEAD is ${commit} of ${commit}\n`));
        assert.match(log, new RegExp(`branch ${tag}, tag ${tag}, request false\n`));
      }
    });

    it(`of the head of a pull request is built, which no branch has, as ${form} reports it`, {
      skip,
    }, async () => {
      const { repository, push, open, ended } = await world.pipeline(form);
      const { git, commit } = repository;
      await git("checkout", "--quiet", "-b", "faster");
      const sha = await commit("Of the request");
      await push("HEAD", "refs/pull/7/head");
      await commit("Not of the request");
      const repo = { id: 7, clone_url: repository.url };
      await open(7, { head: { ref: "faster", sha, repo }, base: { ref: "main", sha, repo } });

      const { build, log } = await ended(1);

      assert.deepEqual([build.branch, build.commit, build.pull_request?.id], ["faster", sha, "7"]);
      assert.match(log, new RegExp(`HEAD is ${sha} of ${sha}\n`));
      assert.match(log, /branch faster, tag , request 7\na secret\n/);
    });

    it(`of a fork is built if the settings say so, without secrets, as ${form} reports it`, {
      skip,
    }, async () => {
      const { repository, slug, open, ended, reasons, builds } = await world.pipeline(form);
      const fork = await world.host.repository(forms[form].host, `eve-${slug}`);
      const sha = await fork.commit("Of a stranger");
      await fork.git("push", "--quiet", "origin", "HEAD:refs/heads/faster");
      await repository.gitOfHost("fetch", "--quiet", fork.bare, "refs/heads/faster:refs/pull/8/head");
      const repo = { id: 7, clone_url: repository.url };
      const head = { ref: "faster", sha, user: { login: "eve" }, repo: { id: 8, clone_url: fork.url } };
      await open(8, { head, base: { ref: "main", sha, repo } });
      assert.deepEqual(await reasons(), ["fork"]);
      assert.deepEqual(await builds(), []);

      const on = { provider_settings: { build_pull_request_forks: true } };
      assert.equal((await world.send("PATCH", `/pipelines/${slug}`, { body: on })).status, 200);
      await open(8, { head, base: { ref: "main", sha, repo } });
      const { build, log } = await ended(1);

      assert.deepEqual([build.branch, build.commit, build.pull_request?.id], ["eve:faster", sha, "8"]);
      assert.match(log, new RegExp(`HEAD is ${sha} of ${sha}\n`));
      assert.match(log, /branch eve:faster, tag , request 8\n(.*\n)*no secret\n/);
    });
  }

  it(`is built last of ${pushes}, which end the builds of those before it`, { skip }, async () => {
    const gate = join(world.host.folder, "gate");
    const settings = { cancel_running_branch_builds: true, skip_queued_branch_builds: true };
    const command = `until [ -e ${gate} ]; do sleep 0.2; done\necho "HEAD is $(git rev-parse HEAD)"`;
    const { repository, report, builds, reasons, ended } = await world.pipeline(
      "github",
      {},
      { ...settings, steps: [{ command }] },
    );
    const messages = Array.from({ length: pushes }, (_, index) => `Change ${index}`);
    const commits = await repository.commits(messages);
    await repository.git("push", "--quiet", "origin", `${commits.at(-1)}:refs/heads/main`);
    for (const [index, commit] of commits.entries()) await report(commit, messages[index] as string);

    assert.deepEqual(new Set(await reasons()), new Set([null]));
    const built = await builds();
    assert.deepEqual(
      built.map(({ commit }) => commit),
      commits,
    );
    const isOver = ({ state }: { state: string }) => ["canceled", "skipped"].includes(state);
    await eventually("the end of the older builds", async () => (await builds()).slice(0, -1).every(isOver));
    writeFileSync(gate, "");
    const { log } = await ended(pushes);

    assert.match(log, new RegExp(`HEAD is ${commits.at(-1)}\n`));
    assert.ok((await builds()).slice(0, -1).every(isOver));
  });
});
