import { type HostApi, hooksPerPage, ownerAndName, readConfigured, type WantedHook } from "./api.ts";

// GitHub and GitHub Enterprise: https://docs.github.com/rest/repos/webhooks

const settings = ({ url, secret }: WantedHook) => ({
  active: true,
  events: ["push", "pull_request", "merge_group"],
  config: { url, content_type: "json", insecure_ssl: "0", ...(secret !== null && { secret }) },
});

export const githubApi: HostApi = {
  headers: (token) => ({
    Accept: "application/vnd.github+json",
    Authorization: `Bearer ${token}`,
    "X-GitHub-Api-Version": "2022-11-28",
  }),
  repository: ownerAndName,
  listHooks: (repository, page) => ({
    method: "GET",
    path: `/repos/${repository}/hooks?per_page=${hooksPerPage}&page=${page}`,
  }),
  readHooks: readConfigured,
  createHook: (repository, hook) => ({
    method: "POST",
    path: `/repos/${repository}/hooks`,
    body: { name: "web", ...settings(hook) },
  }),
  updateHook: (repository, id, hook) => ({
    method: "PATCH",
    path: `/repos/${repository}/hooks/${encodeURIComponent(id)}`,
    body: settings(hook),
  }),
};
