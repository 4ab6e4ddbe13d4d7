import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitUrl } from "../../../../ingress/pages/commits/commit.tsx";

const page = "https://git.example.com/team/site/commit/abc1234";

describe("the web page of a commit", () => {
  for (const repository of [
    "https://git.example.com/team/site.git",
    "https://git.example.com/team/site/",
    "https://user:secret@git.example.com/team/site",
    "git@git.example.com:team/site.git",
    "git.example.com:team/site",
    "ssh://git@git.example.com:2222/team/site.git",
  ])
    it(`is known for ${repository}`, () => assert.equal(commitUrl(repository, "abc1234"), page));

  for (const repository of [null, "/srv/git/site.git", "file:///srv/site", "javascript:alert(1)", "../site"])
    it(`is unknown for ${repository}`, () => assert.equal(commitUrl(repository, "abc1234"), undefined));

  it("keeps the port of a web address", () => {
    assert.equal(commitUrl("http://localhost:3000/a/b.git", "abc"), "http://localhost:3000/a/b/commit/abc");
  });
});
