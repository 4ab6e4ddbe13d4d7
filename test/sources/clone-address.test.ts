import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCloneAddress } from "../../shared/sources/clone-address.ts";
import type { ProviderId } from "../../shared/sources/providers.ts";

const connected = new Map<string, ProviderId>([
  ["git.acme.test", "gitea"],
  ["ghe.acme.test", "github_enterprise"],
  ["lab.acme.test", "gitlab_ee"],
  ["scm.acme.test", "bitbucket_server"],
]);

const assertAll = (addresses: Record<string, string>) => {
  const given = Object.keys(addresses);
  const cloned = given.map((address) => [address, toCloneAddress(address, connected)]);
  assert.deepEqual(Object.fromEntries(cloned), addresses);
};

describe("the address that git clones", () => {
  it("is that of the repository, given one of its pages", () => {
    assertAll({
      "https://github.com/acme/app/tree/main": "https://github.com/acme/app",
      "https://github.com/acme/app/blob/main/README.md?plain=1#L1": "https://github.com/acme/app",
      "https://github.com/acme/app/pull/12": "https://github.com/acme/app",
      "https://github.com/acme/app?tab=readme-ov-file": "https://github.com/acme/app",
      "https://ada:secret@github.com/acme/app/tree/main": "https://ada:secret@github.com/acme/app",
      "https://ghe.acme.test/acme/app/issues": "https://ghe.acme.test/acme/app",
      "https://bitbucket.org/acme/app/src/main/": "https://bitbucket.org/acme/app",
      "https://gitlab.com/acme/app/-/tree/main": "https://gitlab.com/acme/app",
      "https://lab.acme.test/acme/tools/app/-/merge_requests/3/diffs": "https://lab.acme.test/acme/tools/app",
      "https://codeberg.org/acme/app/src/branch/main": "https://codeberg.org/acme/app",
      "http://git.acme.test:3000/git/acme/app/pulls/4": "http://git.acme.test:3000/git/acme/app",
    });
  });

  it("has https where the scheme was left out", () => {
    assertAll({
      "github.com/acme/app": "https://github.com/acme/app",
      "github.com/acme/app/tree/main": "https://github.com/acme/app",
      "code.example.com/acme/app.git": "https://code.example.com/acme/app.git",
    });
  });

  it("is none if the host has no such repository", () => {
    for (const address of [
      "https://github.com/acme",
      "github.com/acme",
      "https://github.com/orgs/acme/repositories",
      "https://gitlab.com/acme/",
      "https://gitlab.com/groups/acme/-/activity",
    ])
      assert.equal(toCloneAddress(address), undefined, address);
  });

  it("is as it was given otherwise", () => {
    const addresses = [
      "https://github.com/acme/app",
      "https://github.com/acme/app/",
      "https://github.com/acme/app.git",
      "https://ghe.acme.test/mirrors/acme/app.git",
      "https://gitlab.com/acme/tools/deep/app",
      "https://git.acme.test/git/acme/app",
      "https://code.example.com/acme/app/tree/main",
      "https://scm.acme.test/scm/acme/app.git",
      "git@github.com:acme/app.git",
      "ssh://git@github.com/acme/app",
      "git.example.com:3000/acme/app",
      "acme/app",
      "/srv/git/app.git",
      "",
    ];
    assertAll(Object.fromEntries(addresses.map((address) => [address, address])));
  });
});
