import type { HandOut } from "../../shared/agents/hand-out/hand-out.ts";
import type { LeaseBatches } from "../../shared/agents/lease-batches.ts";
import type { Presence } from "../../shared/agents/presence.ts";
import type { SigningKeys } from "../../shared/identity/keys.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Attempts } from "../auth/attempts.ts";
import { identityTokenOperations } from "../identity/tokens.ts";
import type { Operation } from "../operations/operation.ts";
import { artifactOperations } from "./artifacts/artifacts.ts";
import { cacheOperations } from "./caches.ts";
import { controlOperations } from "./control.ts";
import { finishOperations } from "./finish.ts";
import { annotationOperations } from "./inside/annotations.ts";
import { insideJobOperations } from "./inside/job.ts";
import { jobOperations } from "./jobs.ts";
import { logOperations } from "./logs.ts";
import { metaDataOperations } from "./meta-data.ts";
import { metricsOperations } from "./metrics.ts";
import { PayloadReads } from "./payload-reads.ts";
import { registerOperations } from "./register.ts";
import { secretOperations } from "./secrets.ts";
import { sessionOperations } from "./session.ts";
import { stackJobOperations } from "./stacks/jobs.ts";
import { stackReportOperations } from "./stacks/reports.ts";
import { stackOperations } from "./stacks/stacks.ts";
import { stepOperations } from "./steps.ts";
import { uploadOperations } from "./uploads.ts";

/** The opener closes these parts. */
export interface AgentParts {
  handOut: HandOut;
  leases: LeaseBatches;
  presence: Presence;
}

/** All operations that agents and their jobs call. */
export function agentOperations(
  services: Services,
  {
    handOut,
    leases,
    presence,
    attempts,
    signingKeys,
  }: AgentParts & { attempts: Attempts; signingKeys: SigningKeys },
): Operation[] {
  return [
    ...registerOperations(services),
    ...metricsOperations(services),
    ...stackOperations(services),
    ...stackJobOperations(services),
    ...stackReportOperations(services),
    ...sessionOperations(services, { handOut, presence }),
    ...controlOperations(services),
    ...jobOperations(services, { leases, attempts }),
    ...logOperations(services),
    ...finishOperations(services, leases),
    ...artifactOperations(services, leases),
    ...uploadOperations(services),
    ...secretOperations(services),
    ...cacheOperations(),
    ...stepOperations(services),
    ...insideJobOperations(services, leases),
    ...identityTokenOperations(services, signingKeys),
    ...annotationOperations(services, leases),
    ...metaDataOperations(services, { leases, payloadReads: new PayloadReads(services) }),
  ];
}
