import type { ConnectionType } from "../types.ts";
import type { HostApi } from "./api.ts";
import { bitbucketApi } from "./bitbucket.ts";
import { bitbucketServerApi } from "./bitbucket-server.ts";
import { giteaApi } from "./gitea.ts";
import { githubApi } from "./github.ts";
import { gitlabApi } from "./gitlab.ts";

/** By type of connection. */
export const hostApis: Record<ConnectionType, HostApi> = {
  github: githubApi,
  github_enterprise: githubApi,
  gitlab: gitlabApi,
  gitlab_self_managed: gitlabApi,
  gitea: giteaApi,
  bitbucket: bitbucketApi,
  bitbucket_server: bitbucketServerApi,
};
