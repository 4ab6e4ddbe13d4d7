import type { Job } from "../../builds/rows/job-store.ts";
import type { Environment } from "../../pipelines/environment.ts";
import { flagsOf } from "../../pipelines/step/checkout.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import type { Agent } from "../store.ts";
import { isVersionAtLeast } from "../version.ts";

/**
 * Agents since this version can skip the checkout. Older ones would clone and fail, so they skip a phase of their
 * bootstrap.
 */
const skipCheckoutSince = [3, 116] as const;
/** Agents refuse a job without a repository. */
const noRepository = "none";

export interface CheckoutContext {
  pipeline: Pick<PipelineFacts, "repository">;
  job: Pick<Job, "options">;
  agent: Partial<Pick<Agent, "version">>;
  /** The value of the secret that the step names. */
  sshKey?: string | undefined;
}

/**
 * The variables of the checkout that nothing else sets, without their prefix. Without a repository, neither the step nor
 * variables that a caller gave decide about the checkout.
 */
export function checkoutFacts(context: CheckoutContext): Record<string, string | undefined> {
  const { pipeline, job, agent, sshKey } = context;
  const { skip, ssh_secret } = job.options?.checkout ?? {};
  const ofKey = ssh_secret === undefined ? {} : { GIT_SSH_KEY: sshKey };
  const canSkip = agent.version === undefined || isVersionAtLeast(agent.version, skipCheckoutSince);
  const phases = canSkip ? undefined : "plugin,command";
  if (pipeline.repository === null)
    return {
      REPO: noRepository,
      BOOTSTRAP_PHASES: phases,
      ...ofKey,
      SKIP_CHECKOUT: canSkip ? "true" : undefined,
    };
  return { REPO: pipeline.repository, ...ofKey, ...(skip && phases && { BOOTSTRAP_PHASES: phases }) };
}

/** Adds the depth of a step's checkout to the options that git gets, wherever they come from. */
export function withDepth(environment: Environment, prefix: string, depth: number | undefined): Environment {
  if (depth === undefined) return environment;
  const flags = (["clone", "fetch"] as const).map((command) => {
    const name = `${prefix}_${flagsOf(command)}`;
    return [name, `${environment[name] ?? ""} --depth=${depth}`.trim()];
  });
  return { ...environment, ...Object.fromEntries(flags) };
}
