import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitUrl, compareUrl, fileUrl } from "../../../../ingress/pages/commits/commit.tsx";
import type { ProviderId } from "../../../../shared/sources/providers.ts";

const commit = "abc1234";
const page = "https://git.example.com/team/site/commit/abc1234";
const urlOf = (repository: string | null, provider: ProviderId | null = null) =>
  commitUrl({ repository, provider }, commit);

describe("the web page of a commit", () => {
  for (const repository of [
    "https://git.example.com/team/site.git",
    "https://git.example.com/team/site/",
    "https://user:secret@git.example.com/team/site",
    "git@git.example.com:team/site.git",
    "git.example.com:team/site",
    "ssh://git@git.example.com:2222/team/site.git",
  ])
    it(`is known for ${repository}`, () => assert.equal(urlOf(repository), page));

  for (const repository of [null, "/srv/git/site.git", "file:///srv/site", "javascript:alert(1)", "../site"])
    it(`is unknown for ${repository}`, () => assert.equal(urlOf(repository), undefined));

  it("keeps the port of a web address", () => {
    assert.equal(urlOf("http://localhost:3000/a/b.git"), "http://localhost:3000/a/b/commit/abc1234");
  });
});

describe("the web pages of a repository", () => {
  const site = "https://git.example.com/team/site";
  const pagesOf = (provider: ProviderId | null) => {
    const source = { repository: `${site}.git`, provider };
    const urls = [
      commitUrl(source, commit),
      fileUrl(source, { commit, file: "ci/steps.yml" }),
      compareUrl(source, "0000000", commit),
    ];
    return urls.map((url) => url?.replace(`${site}/`, ""));
  };
  const asGithub = ["commit/abc1234", "blob/abc1234/ci/steps.yml", "compare/0000000...abc1234"];
  const asGitlab = ["-/commit/abc1234", "-/blob/abc1234/ci/steps.yml", "-/compare/0000000...abc1234"];

  for (const [provider, urls] of [
    ["github", asGithub],
    ["github_enterprise", asGithub],
    ["gitlab", asGitlab],
    ["gitlab_ee", asGitlab],
    ["gitea", ["commit/abc1234", "src/commit/abc1234/ci/steps.yml", "compare/0000000...abc1234"]],
    ["bitbucket", ["commits/abc1234", "src/abc1234/ci/steps.yml", undefined]],
    ["bitbucket_server", [undefined, undefined, undefined]],
    [null, ["commit/abc1234", undefined, "compare/0000000...abc1234"]],
  ] as const)
    it(`are where ${provider ?? "an unknown host"} has them`, () =>
      assert.deepEqual(pagesOf(provider), urls));
});
