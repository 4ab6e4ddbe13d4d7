import type { Organization } from "../accounts/organization-store.ts";
import type { Agent } from "../agents/store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import type { Queue } from "../queues/store.ts";

/** A job, as its token describes it. */
export interface JobIdentity {
  organization: Organization;
  pipeline: PipelineFacts;
  build: Build;
  /** Undefined: the build is of no tag. */
  tag: string | undefined;
  job: Job;
  agent: Agent;
  /** Those of the agent: it registered there, while steps choose the queue of a job. */
  clusterName: string;
  queue: Queue;
}

type ClaimValue = string | number | null;
type Read = (identity: JobIdentity) => ClaimValue | undefined;

/** Every token has these. */
const ownClaims = {
  organization_slug: ({ organization }) => organization.slug,
  pipeline_slug: ({ pipeline }) => pipeline.slug,
  build_number: ({ build }) => build.number,
  build_branch: ({ build }) => build.branch,
  build_tag: ({ tag }) => tag,
  build_commit: ({ build }) => build.commit,
  step_key: ({ job }) => job.options?.key ?? null,
  job_id: ({ job }) => job.id,
  agent_id: ({ agent }) => agent.id,
  build_source: ({ build }) => build.source,
  runner_environment: () => "self-hosted",
} as const satisfies Record<string, Read>;

/** Tokens have these on request. */
const optionalClaims = {
  organization_id: ({ organization }) => organization.id,
  pipeline_id: ({ pipeline }) => pipeline.id,
  build_id: ({ build }) => build.id,
  cluster_id: ({ agent }) => agent.clusterId,
  cluster_name: ({ clusterName }) => clusterName,
  queue_id: ({ queue }) => queue.id,
  queue_key: ({ queue }) => queue.key,
} as const satisfies Record<string, Read>;

const allClaims: Record<string, Read> = { ...ownClaims, ...optionalClaims };
const agentTag = /^agent_tag:([^=]+)$/;

/** Names that `subject_claim` may have. */
export const subjectClaims = [
  "organization_id",
  "pipeline_id",
  "cluster_id",
  "queue_id",
  "build_id",
  "job_id",
  "agent_id",
] as const;

/** For messages. */
export const optionalNames = [...Object.keys(optionalClaims), "agent_tag:NAME"].join(", ");
export const allNames = [...Object.keys(ownClaims), optionalNames].join(", ");

export const isOptionalClaim = (name: string) => Object.hasOwn(optionalClaims, name) || agentTag.test(name);
export const isClaim = (name: string) => Object.hasOwn(allClaims, name) || agentTag.test(name);

/** Members that a job asks for. */
export interface WantedClaims {
  /** Each is `isOptionalClaim`. */
  claims: readonly string[];
  /** Each is `isClaim`. */
  awsSessionTags: readonly string[];
  /** Replaces the subject. */
  subjectClaim: (typeof subjectClaims)[number] | undefined;
}

/** The claims of a token, without those about the token itself. */
export function claimsOf(identity: JobIdentity, { claims, awsSessionTags, subjectClaim }: WantedClaims) {
  const read = (name: string) => readClaim(identity, name);
  const names = [...Object.keys(ownClaims), ...claims, ...(subjectClaim ? [subjectClaim] : [])];
  const entries = names.map((name) => [name, read(name)] as const);
  return {
    sub: subjectClaim ? String(read(subjectClaim)) : subjectOf(identity),
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    ...(awsSessionTags.length > 0 && {
      "https://aws.amazon.com/tags": {
        principal_tags: Object.fromEntries(awsSessionTags.map((name) => [name, [String(read(name) ?? "")]])),
      },
    }),
  };
}

function readClaim(identity: JobIdentity, name: string): ClaimValue | undefined {
  const [, key] = agentTag.exec(name) ?? [];
  if (key === undefined) return allClaims[name]?.(identity);
  const tag = identity.agent.metaData.find((each) => each.startsWith(`${key}=`));
  return tag?.slice(key.length + 1) ?? null;
}

function subjectOf({ organization, pipeline, build, tag, job }: JobIdentity): string {
  const ref = tag === undefined ? `refs/heads/${build.branch}` : `refs/tags/${tag}`;
  return [
    `organization:${organization.slug}:pipeline:${pipeline.slug}`,
    `ref:${encodeColons(ref)}:commit:${encodeColons(build.commit)}:step:${job.options?.key ?? ""}`,
  ].join(":");
}

/**
 * No branch of git has a colon, while whoever makes builds may name one `main:x`, as after a person and a branch: a
 * condition on `refs/heads/main:*` must not match it.
 */
function encodeColons(text: string): string {
  return text.replaceAll(":", "%3A");
}
