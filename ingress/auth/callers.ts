import type { H3Event } from "h3";
import type { TokenHolder } from "../../shared/accounts/access-token-store.ts";
import type { Actor } from "../../shared/accounts/audit.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import type { Attempt } from "../../shared/agents/lease.ts";
import type { Lease } from "../../shared/agents/lease-store.ts";
import type { Stack } from "../../shared/agents/stacks/store.ts";
import type { Agent } from "../../shared/agents/store.ts";
import type { Registrar } from "../../shared/agents/tokens.ts";
import type { Build } from "../../shared/builds/rows/build-store.ts";
import type { JobFacts } from "../../shared/builds/rows/job-store.ts";

/** Names a security scheme of the OpenAPI document. */
export type Token = "accessToken" | "agentToken" | "sessionToken" | "jobToken";

/** By kind of caller: what an operation learns of one. */
export interface Callers {
  /** Of the REST API. The actor is the caller as the audit log names it. */
  accessToken: Owned<{ caller: TokenHolder; actor: Actor }>;
  /** Registers agents. */
  registrar: Owned<{ registrar: Registrar }>;
  /** A registration token, for the stack of the path. */
  stack: Owned<{ registrar: Registrar; stack: Stack }>;
  /** The ping itself finds the session, together with those of other pings. */
  pinging: { sessionToken: string; organizationId?: undefined };
  /** An agent whose session has not ended. */
  session: Owned<{ agent: Agent }>;
  /** The agent itself, also from inside its job. */
  agentOrJob: Owned<{ agent: Agent }>;
  /** A session that has or had the job of the path, or a token of one of its attempts. */
  job: Owned<JobCaller>;
  /** A caller of `job` whose attempt has not ended. */
  lease: Owned<JobCaller>;
  /** As `job`, often without a read. The attempt may have ended: an operation that writes checks the lease. */
  attempt: Owned<{ attempt: Attempt }>;
  /** The job of the path, for its build's meta-data. */
  dataOfJob: Owned<DataCaller>;
  /** A job of the build of the path, for its meta-data. */
  dataOfBuild: Owned<DataCaller>;
  /** A job, for what the path names. */
  insideJob: Owned<DataCaller>;
}

export type CallerKind = keyof Callers;

/** The organization owns what the request uses. */
type Owned<Members> = Members & { organizationId: string };

export interface JobCaller {
  job: JobFacts;
  build: Build;
  /** The attempt that the caller stands for. */
  lease: Lease;
  /** The attempt is the present one, and has not ended. */
  isLeased: boolean;
  /** Undefined if the job went back to its queue. */
  agent: Agent | undefined;
}

export interface DataCaller {
  jobId: string;
  build: Build;
  /** Undefined: the token can only read. */
  lease: Lease | undefined;
}

/** Demands on the holder of an access token. */
export interface Needs {
  /** Absent: any token is enough. */
  scope?: Scope;
  needsAdmin?: boolean;
}

/** By kind of caller. Each throws a Refusal: 401, and what else may refuse a caller before the body is read. */
export type Authenticators = {
  [Kind in CallerKind]: (event: H3Event, needs: Needs) => Promise<Callers[Kind]>;
};

/** Any of these tokens is enough. */
export const tokensOf: Record<CallerKind, Token[]> = {
  accessToken: ["accessToken"],
  registrar: ["agentToken"],
  stack: ["agentToken"],
  pinging: ["sessionToken"],
  session: ["sessionToken"],
  agentOrJob: ["sessionToken", "jobToken"],
  job: ["jobToken", "sessionToken"],
  lease: ["jobToken", "sessionToken"],
  attempt: ["jobToken", "sessionToken"],
  dataOfJob: ["jobToken", "sessionToken"],
  dataOfBuild: ["jobToken", "sessionToken"],
  insideJob: ["jobToken", "sessionToken"],
};
