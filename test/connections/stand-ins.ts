import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import type { ConnectionType } from "../../shared/connections/types.ts";

// Source hosts that know the webhooks of one repository. They take what a host's published API takes, and nothing else.

export const token = "token-of-tests";

type Hook = Record<string, unknown>;

interface Api {
  /** The path of the API on its host. */
  base: string;
  /** The repository's address, on a host of that name. */
  repository(host: string): string;
  /** The path of its webhooks, below the base. */
  hooks: string;
  headers: Record<string, string>;
  /** The parameters of the page after the first, and the shape of a page. */
  secondPage: Record<string, string>;
  perPage: Record<string, string>;
  list(hooks: Hook[]): unknown;
  update: "PATCH" | "PUT";
  createStatus: number;
  created: z.ZodType<Hook>;
  updated: z.ZodType<Hook>;
  /** The id of a hook, in answers and in the path. */
  idOf(number: number): { member: Hook; path: string };
}

const url = z.url();
const secret = z.string();
const json = { "content-type": "application/json" };

const githubConfig = z.strictObject({
  url,
  content_type: z.literal("json"),
  insecure_ssl: z.literal("0"),
  secret: secret.optional(),
});
const githubHook = {
  active: z.literal(true),
  events: z.tuple([z.literal("push"), z.literal("pull_request"), z.literal("merge_group")]),
  config: githubConfig,
};
const number = (id: number) => ({ member: { id }, path: String(id) });

const github: Api = {
  base: "",
  repository: (host) => `git@${host}:acme/app.git`,
  hooks: "/repos/acme/app/hooks",
  headers: {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${token}`,
    "x-github-api-version": "2022-11-28",
  },
  perPage: { per_page: "30", page: "1" },
  secondPage: { per_page: "30", page: "2" },
  list: (hooks) => hooks,
  update: "PATCH",
  createStatus: 201,
  created: z.strictObject({ name: z.literal("web"), ...githubHook }),
  updated: z.strictObject(githubHook),
  idOf: number,
};

const gitlabHook = z.strictObject({
  url,
  push_events: z.literal(true),
  tag_push_events: z.literal(true),
  merge_requests_events: z.literal(true),
  enable_ssl_verification: z.literal(true),
  token: secret.optional(),
});

const gitlab: Api = {
  ...github,
  base: "/api/v4",
  repository: (host) => `https://${host}/acme/tools/app.git`,
  hooks: "/projects/acme%2Ftools%2Fapp/hooks",
  headers: { accept: "application/json", "private-token": token },
  update: "PUT",
  created: gitlabHook,
  updated: gitlabHook,
};

const giteaHook = {
  active: z.literal(true),
  events: z.tuple([z.literal("push"), z.literal("delete"), z.literal("pull_request")]),
  config: z.strictObject({ url, content_type: z.literal("json"), secret: secret.optional() }),
};

const gitea: Api = {
  ...github,
  base: "/api/v1",
  headers: { accept: "application/json", authorization: `token ${token}` },
  perPage: { limit: "30", page: "1" },
  secondPage: { limit: "30", page: "2" },
  created: z.strictObject({ type: z.literal("gitea"), ...giteaHook }),
  updated: z.strictObject(giteaHook),
};

const cloudEvents = [
  "repo:push",
  "pullrequest:created",
  "pullrequest:updated",
  "pullrequest:fulfilled",
  "pullrequest:rejected",
];
const cloudHook = z.strictObject({
  description: z.string(),
  url,
  active: z.literal(true),
  events: z.array(z.enum(cloudEvents as [string])).length(5),
  secret: secret.nullable(),
});

const bitbucket: Api = {
  ...github,
  base: "/2.0",
  hooks: "/repositories/acme/app/hooks",
  headers: { accept: "application/json", authorization: `Bearer ${token}` },
  perPage: { pagelen: "30", page: "1" },
  secondPage: { pagelen: "30", page: "2" },
  list: (values) => ({ values, pagelen: 30 }),
  update: "PUT",
  created: cloudHook,
  updated: cloudHook,
  idOf: (id) => ({ member: { uuid: `{hook-${id}}` }, path: `%7Bhook-${id}%7D` }),
};

const serverEvents = [
  "repo:refs_changed",
  "pr:opened",
  "pr:from_ref_updated",
  "pr:modified",
  "pr:merged",
  "pr:declined",
  "pr:deleted",
];
const serverHook = z.strictObject({
  name: z.string(),
  url,
  active: z.literal(true),
  events: z.array(z.enum(serverEvents as [string])).length(7),
  configuration: z.strictObject({ secret: secret.optional() }),
});

const bitbucketServer: Api = {
  ...bitbucket,
  base: "/rest",
  repository: (host) => `https://${host}/scm/TOOLS/app.git`,
  hooks: "/api/1.0/projects/TOOLS/repos/app/webhooks",
  perPage: { limit: "30", start: "0" },
  secondPage: { limit: "30", start: "30" },
  list: (values) => ({ values, size: values.length, isLastPage: values.length < 30 }),
  created: serverHook,
  updated: serverHook,
  idOf: number,
};

export const apis: Record<ConnectionType, Api> = {
  github,
  github_enterprise: { ...github, base: "/api/v3" },
  gitlab,
  gitlab_self_managed: gitlab,
  gitea,
  bitbucket,
  bitbucket_server: bitbucketServer,
};

export type StandIn = Awaited<ReturnType<typeof startStandIn>>;

/** A host of a type, with other webhooks of the repository. */
export async function startStandIn(type: ConnectionType, others = 0) {
  const api = apis[type];
  const hooks: Hook[] = [];
  const add = (given: Hook) => hooks.push({ ...api.idOf(hooks.length + 1).member, ...given });
  for (let other = 0; other < others; other++) {
    const address = `https://other.example.com/${other}`;
    add({ url: address, config: { url: address } });
  }
  const calls: string[] = [];
  const wrong: string[] = [];

  const answer = async (request: IncomingMessage): Promise<[status: number, body: unknown]> => {
    const { method, headers } = request;
    const at = new URL(request.url ?? "", "http://host");
    for (const [name, value] of Object.entries(api.headers))
      if (headers[name] !== value && name !== "accept" && name !== "x-github-api-version")
        return [401, { message: "Bad credentials" }];
      else if (headers[name] !== value) throw new Error(`${name}: ${headers[name]}`);
    const path = api.base + api.hooks;
    const query = Object.fromEntries(at.searchParams);
    if (method === "GET" && at.pathname === path) {
      for (const [page, expected] of [api.perPage, api.secondPage].entries())
        if (JSON.stringify(query) === JSON.stringify(expected))
          return [200, api.list(hooks.slice(30 * page, 30 * (page + 1)))];
    }
    const given = await readJson(request);
    if (method === "POST" && at.pathname === path && at.search === "") {
      add(api.created.parse(given));
      return [api.createStatus, hooks.at(-1)];
    }
    const index = hooks.findIndex((_, each) => at.pathname === `${path}/${api.idOf(each + 1).path}`);
    if (method === api.update && index >= 0 && at.search === "") {
      hooks[index] = { ...api.idOf(index + 1).member, ...api.updated.parse(given) };
      return [200, hooks[index]];
    }
    throw new Error("no such operation");
  };
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    answer(request).then(
      ([status, body]) => response.writeHead(status, json).end(JSON.stringify(body)),
      (error: Error) => {
        wrong.push(`${request.method} ${request.url}: ${error.message}`);
        response.writeHead(400, json).end(JSON.stringify({ message: "Bad request" }));
      },
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${api.base}`,
    hooks,
    calls,
    wrong,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

/** @throws if it is no JSON, or says so wrongly */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  if (request.headers["content-type"] !== "application/json") throw new Error("no JSON");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** The address and the secret of a hook, wherever the host keeps them. */
export function facts(hook: Hook | undefined) {
  const { config = {}, configuration = {} } = hook as Record<string, Hook>;
  return {
    url: hook?.url ?? config.url,
    secret: hook?.secret ?? hook?.token ?? config.secret ?? configuration.secret ?? null,
  };
}
