import { z } from "zod";
import { type HostApi, hooksPerPage, readListed, type WantedHook } from "./api.ts";

// Bitbucket Data Center: https://developer.atlassian.com/server/bitbucket/rest/, "Repository", "Webhooks"

const page = z.object({ values: z.unknown() });

const settings = ({ url, secret }: WantedHook) => ({
  name: "Signalbox",
  url,
  active: true,
  events: [
    "repo:refs_changed",
    "pr:opened",
    "pr:from_ref_updated",
    "pr:modified",
    "pr:merged",
    "pr:declined",
    "pr:deleted",
  ],
  configuration: secret === null ? {} : { secret },
});

export const bitbucketServerApi: HostApi = {
  headers: (token) => ({ Accept: "application/json", Authorization: `Bearer ${token}` }),
  repository: (path) => {
    const [, project, name] = /^(?:scm\/)?([^/]+)\/([^/]+)$/.exec(path) ?? [];
    return project && name && `projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(name)}`;
  },
  listHooks: (repository, number) => ({
    method: "GET",
    path: `/api/1.0/${repository}/webhooks?limit=${hooksPerPage}&start=${(number - 1) * hooksPerPage}`,
  }),
  readHooks: (body) => readListed(page.parse(body).values),
  createHook: (repository, hook) => ({
    method: "POST",
    path: `/api/1.0/${repository}/webhooks`,
    body: settings(hook),
  }),
  updateHook: (repository, id, hook) => ({
    method: "PUT",
    path: `/api/1.0/${repository}/webhooks/${encodeURIComponent(id)}`,
    body: settings(hook),
  }),
};
