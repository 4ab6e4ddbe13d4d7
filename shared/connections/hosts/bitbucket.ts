import { z } from "zod";
import { type HostApi, hooksPerPage, ownerAndName, type WantedHook } from "./api.ts";

// Bitbucket Cloud: https://developer.atlassian.com/cloud/bitbucket/rest/api-group-repositories/

const page = z.object({ values: z.array(z.object({ uuid: z.string(), url: z.string() })) });

const settings = ({ url, secret }: WantedHook) => ({
  description: "Signalbox",
  url,
  active: true,
  events: [
    "repo:push",
    "pullrequest:created",
    "pullrequest:updated",
    "pullrequest:fulfilled",
    "pullrequest:rejected",
  ],
  secret, // null takes it away
});

export const bitbucketApi: HostApi = {
  headers: (token) => ({ Accept: "application/json", Authorization: `Bearer ${token}` }),
  repository: ownerAndName,
  listHooks: (repository, number) => ({
    method: "GET",
    path: `/repositories/${repository}/hooks?pagelen=${hooksPerPage}&page=${number}`,
  }),
  readHooks: (body) => page.parse(body).values.map(({ uuid, url }) => ({ id: uuid, url })),
  createHook: (repository, hook) => ({
    method: "POST",
    path: `/repositories/${repository}/hooks`,
    body: settings(hook),
  }),
  updateHook: (repository, id, hook) => ({
    method: "PUT",
    path: `/repositories/${repository}/hooks/${encodeURIComponent(id)}`,
    body: settings(hook),
  }),
};
