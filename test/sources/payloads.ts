// Payloads of source hosts, with the members that they document; of the rest some, so that parsers meet what they skip.

export const sha = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
export const base = "a10867b14bb761a232cd80139fbd4c0d33264240";
export const zeros = "0".repeat(40);

export function gitlabPush(change: object = {}) {
  return {
    object_kind: "push",
    event_name: "push",
    before: base,
    after: sha,
    ref: "refs/heads/main",
    ref_protected: true,
    checkout_sha: sha,
    message: null,
    user_id: 4,
    user_name: "Ada Lovelace",
    user_username: "ada",
    user_email: "ada@example.com",
    project_id: 15,
    project: {
      id: 15,
      name: "app",
      web_url: "https://gitlab.example.com/acme/app",
      git_ssh_url: "git@gitlab.example.com:acme/app.git",
      git_http_url: "https://gitlab.example.com/acme/app.git",
      namespace: "acme",
      path_with_namespace: "acme/app",
      default_branch: "main",
    },
    commits: [
      {
        id: sha,
        message: "Make it faster\n\nMuch faster",
        title: "Make it faster",
        timestamp: "2026-01-31T12:00:00+00:00",
        url: `https://gitlab.example.com/acme/app/-/commit/${sha}`,
        author: { name: "Ada Lovelace", email: "ada@example.com" },
        added: ["a.txt"],
        modified: [],
        removed: [],
      },
    ],
    total_commits_count: 1,
    ...change,
  };
}

export function gitlabRequest(change: object = {}, others: object = {}) {
  const project = (path: string) => ({
    name: "app",
    web_url: `https://gitlab.example.com/${path}`,
    git_http_url: `https://gitlab.example.com/${path}.git`,
    path_with_namespace: path,
    default_branch: "main",
  });
  return {
    object_kind: "merge_request",
    event_type: "merge_request",
    user: { id: 4, name: "Ada Lovelace", username: "ada", email: "[REDACTED]" },
    project: project("acme/app"),
    object_attributes: {
      id: 99,
      iid: 42,
      title: "Make it faster",
      url: "https://gitlab.example.com/acme/app/-/merge_requests/42",
      state: "opened",
      action: "open",
      draft: false,
      source_branch: "faster",
      target_branch: "main",
      source_project_id: 15,
      target_project_id: 15,
      last_commit: {
        id: sha,
        message: "Make it faster",
        author: { name: "Ada Lovelace", email: "ada@example.com" },
      },
      source: project("acme/app"),
      target: project("acme/app"),
      ...change,
    },
    labels: [{ id: 1, title: "speed", color: "#ffffff" }],
    changes: {},
    ...others,
  };
}

export const gitlabFork = {
  source_project_id: 77,
  source: {
    git_http_url: "https://gitlab.example.com/eve/app.git",
    path_with_namespace: "eve/app",
    web_url: "https://gitlab.example.com/eve/app",
  },
};

export function giteaPush(change: object = {}) {
  return {
    ref: "refs/heads/main",
    before: base,
    after: sha,
    compare_url: `https://git.example.com/acme/app/compare/${base}...${sha}`,
    commits: [],
    total_commits: 1,
    head_commit: {
      id: sha,
      message: "Make it faster\n",
      url: `https://git.example.com/acme/app/commit/${sha}`,
      author: { name: "Ada", email: "ada@example.com", username: "ada" },
      verification: null,
    },
    repository: { id: 7, full_name: "acme/app", clone_url: "https://git.example.com/acme/app.git" },
    pusher: { id: 1, login: "ada", full_name: "Ada", email: "ada@example.com", username: "ada" },
    sender: { id: 1, login: "ada", username: "ada" },
    ...change,
  };
}

export function giteaRequest(action: string, change: object = {}, others: object = {}) {
  const repo = {
    id: 7,
    owner: { id: 2, login: "acme", username: "acme" },
    full_name: "acme/app",
    clone_url: "https://git.example.com/acme/app.git",
    fork: false,
  };
  return {
    action,
    number: 42,
    pull_request: {
      id: 9,
      number: 42,
      url: "https://git.example.com/acme/app/pulls/42",
      html_url: "https://git.example.com/acme/app/pulls/42",
      title: "Make it faster",
      body: "",
      state: "open",
      user: { id: 1, login: "ada", username: "ada" },
      labels: [{ id: 1, name: "speed", color: "ffffff" }],
      head: { label: "faster", ref: "faster", sha, repo_id: 7, repo },
      base: { label: "main", ref: "main", sha: base, repo_id: 7, repo },
      merged: false,
      ...change,
    },
    repository: repo,
    sender: { id: 1, login: "ada" },
    ...others,
  };
}

export const giteaFork = {
  head: {
    label: "faster",
    ref: "faster",
    sha,
    repo_id: 8,
    repo: {
      id: 8,
      owner: { id: 3, login: "eve", username: "eve" },
      full_name: "eve/app",
      clone_url: "https://git.example.com/eve/app.git",
      fork: true,
    },
  },
};

export function bitbucketChange(change: object = {}) {
  const side = (hash: string) => ({
    type: "branch",
    name: "main",
    target: {
      type: "commit",
      hash,
      message: "Make it faster\n",
      date: "2026-01-31T12:00:00+00:00",
      author: {
        type: "author",
        raw: "Ada Lovelace <ada@example.com>",
        user: { type: "user", display_name: "Ada Lovelace", nickname: "ada", uuid: "{1}" },
      },
    },
  });
  return {
    created: false,
    closed: false,
    forced: false,
    new: side(sha),
    old: side(base),
    links: { html: { href: `https://bitbucket.org/acme/app/branches/compare/${sha}..${base}` } },
    ...change,
  };
}

export function bitbucketPush(...changes: object[]) {
  return {
    push: { changes },
    actor: { type: "user", display_name: "Ada Lovelace", nickname: "ada" },
    repository: { type: "repository", full_name: "acme/app", scm: "git", uuid: "{2}" },
  };
}

const ofBitbucket = (path: string) => ({
  full_name: path,
  type: "repository",
  links: {
    html: { href: `https://bitbucket.org/${path}` },
    self: { href: `https://api.bitbucket.org/${path}` },
  },
});

export function bitbucketRequest(change: object = {}, from = "acme/app") {
  return {
    pullrequest: {
      type: "pullrequest",
      id: 42,
      title: "Make it faster",
      state: "OPEN",
      author: { display_name: "Ada Lovelace", nickname: "ada", type: "user" },
      links: { html: { href: "https://bitbucket.org/acme/app/pull-requests/42" } },
      source: {
        branch: { name: "faster" },
        commit: { hash: sha.slice(0, 12) },
        repository: ofBitbucket(from),
      },
      destination: {
        branch: { name: "main" },
        commit: { hash: base.slice(0, 12) },
        repository: ofBitbucket("acme/app"),
      },
      ...change,
    },
    actor: { display_name: "Ada Lovelace", nickname: "ada", type: "user" },
    repository: ofBitbucket("acme/app"),
  };
}

const adaOfServer = {
  name: "ada",
  displayName: "Ada Lovelace",
  emailAddress: "ada@example.com",
  active: true,
};
const ofServer = (id: number, key: string) => ({
  id,
  slug: "app",
  name: "app",
  project: { key },
  links: {
    clone: [
      { href: `ssh://git@git.example.com:7999/${key.toLowerCase()}/app.git`, name: "ssh" },
      { href: `https://git.example.com/scm/${key.toLowerCase()}/app.git`, name: "http" },
    ],
  },
});

export function serverPush(change: object = {}, others: object = {}) {
  return {
    eventKey: "repo:refs_changed",
    date: "2026-01-31T12:00:00+0000",
    actor: adaOfServer,
    repository: ofServer(1, "ACME"),
    changes: [
      {
        ref: { id: "refs/heads/main", displayId: "main", type: "BRANCH" },
        refId: "refs/heads/main",
        fromHash: base,
        toHash: sha,
        type: "UPDATE",
        ...change,
      },
    ],
    toCommit: { id: sha, message: "Make it faster", author: adaOfServer },
    ...others,
  };
}

export function serverRequest(eventKey: string, change: object = {}, others: object = {}) {
  const end = (name: string, latestCommit: string, repository: object) => ({
    id: `refs/heads/${name}`,
    displayId: name,
    latestCommit,
    repository,
  });
  return {
    eventKey,
    date: "2026-01-31T12:00:00+0000",
    actor: adaOfServer,
    pullRequest: {
      id: 42,
      version: 1,
      title: "Make it faster",
      state: "OPEN",
      open: true,
      fromRef: end("faster", sha, ofServer(1, "ACME")),
      toRef: end("main", base, ofServer(1, "ACME")),
      author: { user: adaOfServer, role: "AUTHOR" },
      links: { self: [{ href: "https://git.example.com/projects/ACME/repos/app/pull-requests/42" }] },
      ...change,
    },
    ...others,
  };
}

export const serverFork = {
  fromRef: {
    id: "refs/heads/faster",
    displayId: "faster",
    latestCommit: sha,
    repository: ofServer(2, "~EVE"),
  },
};
