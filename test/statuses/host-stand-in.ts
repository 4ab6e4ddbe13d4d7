import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import type { ConnectionType } from "../../shared/connections/types.ts";
import { apis, readJson, token } from "../connections/stand-ins.ts";

// Source hosts that know the statuses of one repository. They take what a host's published API takes, and nothing else.

/** A status as a host has it. */
export interface HostStatus {
  commit: string;
  /** The context, or its name. */
  name: string;
  state: string;
  description: string;
  url: string;
}

interface StatusApi {
  /** Below the base address. */
  path(commit: string): string;
  body: z.ZodType<Omit<HostStatus, "commit">>;
  /** Of a status that is taken. */
  answer: number;
  /** Of one that has that state already. */
  repeated?: { status: number; message: string };
}

const url = z.url();

/** https://docs.github.com/rest/commits/statuses#create-a-commit-status */
const github: StatusApi = {
  path: (commit) => `/repos/acme/app/statuses/${commit}`,
  body: z
    .strictObject({
      state: z.enum(["error", "failure", "pending", "success"]),
      target_url: url,
      description: z.string().max(140),
      context: z.string().max(255),
    })
    .transform(({ context, target_url, ...rest }) => ({ ...rest, name: context, url: target_url })),
  answer: 201,
};

/** https://docs.gitlab.com/api/commits/#set-commit-pipeline-status */
const gitlab: StatusApi = {
  path: (commit) => `/projects/acme%2Ftools%2Fapp/statuses/${commit}`,
  body: z
    .strictObject({
      state: z.enum(["pending", "running", "success", "failed", "canceled", "skipped"]),
      name: z.string().max(255),
      target_url: url.max(255),
      description: z.string().max(255),
    })
    .transform(({ target_url, ...rest }) => ({ ...rest, url: target_url })),
  answer: 201,
  repeated: {
    status: 400,
    message:
      'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")',
  },
};

/** https://docs.gitea.com/api, "repoCreateStatus" */
const gitea: StatusApi = { ...github };

const bitbucketBody = {
  key: z.string().min(1),
  url,
  name: z.string().max(255),
  description: z.string().max(255),
};
const withoutKey = <Given extends { key: string }>({ key: _, ...rest }: Given) => rest;

/** https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/ */
const bitbucket: StatusApi = {
  path: (commit) => `/repositories/acme/app/commit/${commit}/statuses/build`,
  body: z
    .strictObject({
      ...bitbucketBody,
      key: bitbucketBody.key.max(40),
      state: z.enum(["SUCCESSFUL", "FAILED", "INPROGRESS", "STOPPED"]),
    })
    .transform(withoutKey),
  answer: 201,
};

/** https://developer.atlassian.com/server/bitbucket/rest/, "Builds and Deployments" */
const bitbucketServer: StatusApi = {
  path: (commit) => `/build-status/1.0/commits/${commit}`,
  body: z
    .strictObject({
      ...bitbucketBody,
      key: bitbucketBody.key.max(255),
      url: url.max(450),
      state: z.enum(["SUCCESSFUL", "FAILED", "INPROGRESS"]),
    })
    .transform(withoutKey),
  answer: 204,
};

const statusApis: Record<ConnectionType, StatusApi> = {
  github,
  github_enterprise: github,
  gitlab,
  gitlab_self_managed: gitlab,
  gitea,
  bitbucket,
  bitbucket_server: bitbucketServer,
};

/** An answer in place of the usual one. */
export interface Said {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export type StatusHost = Awaited<ReturnType<typeof startStatusHost>>;

/** A host of a type, with the repository of `apis`. */
export async function startStatusHost(type: ConnectionType) {
  const { base, headers: expected } = apis[type];
  const { path, body, answer: taken, repeated } = statusApis[type];
  const statuses: HostStatus[] = [];
  const wrong: string[] = [];
  const known = { token };
  let requests = 0;
  let said: Said | undefined;
  let meanwhile: (() => Promise<unknown>) | undefined;

  const answer = async (request: IncomingMessage): Promise<Said> => {
    requests++;
    const happens = meanwhile;
    meanwhile = undefined;
    await happens?.();
    if (said) return said;
    if (!isKnown(request.headers)) return { status: 401, body: { message: "Bad credentials" } };
    for (const [name, value] of Object.entries(expected))
      if (!value.includes(token) && request.headers[name] !== value)
        throw new Error(`${name}: ${request.headers[name]}`);
    const commit = /[0-9a-f]{40}/.exec(request.url ?? "")?.[0] ?? "";
    if (request.method !== "POST" || request.url !== base + path(commit))
      throw new Error("no such operation");
    const given = { ...body.parse(await readJson(request)), commit };
    const former = statuses.findLast(({ name, commit: of }) => name === given.name && of === commit);
    if (repeated && former?.state === given.state)
      return { status: repeated.status, body: { message: repeated.message } };
    statuses.push(given);
    return { status: taken, body: taken === 204 ? undefined : given };
  };
  const isKnown = (headers: IncomingHttpHeaders) =>
    Object.entries(expected).every(
      ([name, value]) => !value.includes(token) || headers[name] === value.replace(token, known.token),
    );
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, headers, body: text }) => {
        response.writeHead(status, { "Content-Type": "application/json", ...headers });
        response.end(text === undefined ? undefined : JSON.stringify(text));
      },
      (error: Error) => {
        wrong.push(`${request.method} ${request.url}: ${error.message}`);
        response.writeHead(422).end(JSON.stringify({ message: "Unprocessable" }));
      },
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${base}`,
    statuses,
    wrong,
    requests: () => requests,
    /** Answers all requests so from now on. Undefined: as the host does. */
    say(next: Said | undefined) {
      said = next;
    },
    /** Happens before the next answer. */
    meanwhile(happens: () => Promise<unknown>) {
      meanwhile = happens;
    },
    /** The host forgets the former token, and knows this one. */
    renewToken(next: string) {
      known.token = next;
    },
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
