import { SignJWT } from "jose";
import { findOrganizationById } from "../accounts/organization-store.ts";
import { findJobOfStep } from "../agents/inside/step-store.ts";
import type { Agent } from "../agents/store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { givenEnvironment } from "../builds/rows/environment.ts";
import { tagOf } from "../builds/rows/facts.ts";
import { findClusterName } from "../clusters/store.ts";
import { secondMs } from "../durations.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import { findQueueById } from "../queues/store.ts";
import { notFound } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { issuerOf, web } from "../settings/urls.ts";
import { threads } from "../sharing/resources.ts";
import { claimsOf, type JobIdentity, type WantedClaims } from "./claims.ts";
import type { SigningKeys } from "./keys.ts";
import { maxTokenMs, signingAlgorithm } from "./rotation.ts";

export const defaultLifetimeSeconds = 300;
export const maxLifetimeSeconds = maxTokenMs / secondMs;

/** A job with its lease, which its caller checked. */
export interface IdentifiedJob {
  jobId: string;
  build: Build;
  agent: Agent;
}

export interface TokenRequest extends WantedClaims {
  /** Undefined: the organization's page. */
  audience: string | undefined;
  lifetimeSeconds: number;
}

/** Signs identity tokens of jobs (RFC 7519). Organizations take turns. */
export function openIdentityTokens(services: Services, keys: SigningKeys) {
  const { config, clock } = services;

  /** @throws Refusal 404 if the pipeline or queue was deleted; 503 */
  return async (job: IdentifiedJob, request: TokenRequest, signal?: AbortSignal): Promise<string> => {
    const identity = await identify(services, job);
    const { organization } = identity;
    const { id, privateKey } = await keys.current();
    const issuedAt = Math.floor(clock.now().getTime() / secondMs);
    const token = new SignJWT(claimsOf(identity, request))
      .setProtectedHeader({ typ: "JWT", alg: signingAlgorithm, kid: id })
      .setIssuer(issuerOf(config))
      .setAudience(request.audience ?? web.organization(config, organization.slug))
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(issuedAt + request.lifetimeSeconds);
    return threads.take(organization.id, () => token.sign(privateKey), signal);
  };
}

/** @throws Refusal 404 */
async function identify(services: Services, { jobId, build, agent }: IdentifiedJob): Promise<JobIdentity> {
  const { db, cipher, config } = services;
  const [job, organization, pipeline, cluster, queue] = await Promise.all([
    findJobOfStep(db, jobId),
    findOrganizationById(db, build.organizationId),
    findPipelineFactsById(db, { id: build.pipelineId }),
    findClusterName(db, { id: agent.clusterId }),
    findQueueById(db, agent.queueId),
  ]);
  if (!job || !organization || !pipeline || !cluster || !queue) throw notFound("job");
  const tag = tagOf(build, givenEnvironment(cipher, build), config.agentEnvPrefix);
  return { organization, pipeline, build, tag, job, agent, clusterName: cluster.name, queue };
}
