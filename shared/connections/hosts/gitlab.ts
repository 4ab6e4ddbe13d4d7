import { type HostApi, hooksPerPage, readListed, type WantedHook } from "./api.ts";

// GitLab, hosted and self-managed: https://docs.gitlab.com/api/project_webhooks/

const settings = ({ url, secret }: WantedHook) => ({
  url,
  push_events: true,
  tag_push_events: true,
  merge_requests_events: true,
  enable_ssl_verification: true,
  ...(secret !== null && { token: secret }),
});

export const gitlabApi: HostApi = {
  headers: (token) => ({ Accept: "application/json", "PRIVATE-TOKEN": token }),
  repository: (path) => (path.includes("/") ? encodeURIComponent(path) : undefined),
  listHooks: (repository, page) => ({
    method: "GET",
    path: `/projects/${repository}/hooks?per_page=${hooksPerPage}&page=${page}`,
  }),
  readHooks: readListed,
  createHook: (repository, hook) => ({
    method: "POST",
    path: `/projects/${repository}/hooks`,
    body: settings(hook),
  }),
  updateHook: (repository, id, hook) => ({
    method: "PUT",
    path: `/projects/${repository}/hooks/${encodeURIComponent(id)}`,
    body: settings(hook),
  }),
};
