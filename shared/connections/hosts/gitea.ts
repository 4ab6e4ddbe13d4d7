import { type HostApi, hooksPerPage, ownerAndName, readConfigured, type WantedHook } from "./api.ts";

// Gitea and Forgejo: https://docs.gitea.com/api, the tag "repository"

const settings = ({ url, secret }: WantedHook) => ({
  active: true,
  events: ["push", "delete", "pull_request"],
  config: { url, content_type: "json", ...(secret !== null && { secret }) },
});

export const giteaApi: HostApi = {
  headers: (token) => ({ Accept: "application/json", Authorization: `token ${token}` }),
  repository: ownerAndName,
  listHooks: (repository, page) => ({
    method: "GET",
    path: `/repos/${repository}/hooks?limit=${hooksPerPage}&page=${page}`,
  }),
  readHooks: readConfigured,
  createHook: (repository, hook) => ({
    method: "POST",
    path: `/repos/${repository}/hooks`,
    body: { type: "gitea", ...settings(hook) },
  }),
  updateHook: (repository, id, hook) => ({
    method: "PATCH",
    path: `/repos/${repository}/hooks/${encodeURIComponent(id)}`,
    body: settings(hook),
  }),
};
