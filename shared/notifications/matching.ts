import { matchesBranch } from "../conditions/branches.ts";
import type { BuildState, NewsEvent } from "../vocabulary.ts";
import type { NotificationService } from "./store.ts";

/** The subject of news, as far as services choose by it. */
export interface Heard {
  event: NewsEvent;
  /** Of the news of a build or a job. */
  build?: { pipelineId: string; branch: string; state: BuildState } | undefined;
  /** Of the pipeline, or of the agent. */
  clusterId: string | null;
}

type Choosing = Pick<
  NotificationService,
  "enabled" | "events" | "scope" | "scopeIds" | "branchConfiguration" | "provider" | "buildStates"
>;

/** Says if a service wants to be told, but for `build_fixed`: that takes the build before it. */
export function wants(service: Choosing, heard: Heard): boolean {
  return (
    service.enabled &&
    (service.events === null || service.events.includes(heard.event)) &&
    isInScope(service, heard) &&
    isOfBranch(service, heard) &&
    (service.provider === "webhook" || wantsState(service, heard))
  );
}

/** No agent belongs to a pipeline. */
function isInScope({ scope, scopeIds }: Choosing, { build, clusterId }: Heard): boolean {
  if (scope === "all") return true;
  const id = scope === "some_projects" ? build?.pipelineId : clusterId;
  return id !== null && id !== undefined && (scopeIds ?? []).includes(id);
}

function isOfBranch({ branchConfiguration }: Choosing, { build }: Heard): boolean {
  return build === undefined || matchesBranch(branchConfiguration ?? "", build.branch);
}

function wantsState({ buildStates }: Choosing, heard: Heard): boolean {
  const state = stateOf(heard);
  if (state === undefined) return false;
  const states = buildStates ?? [];
  return states.includes(state) || (state === "build_passed" && states.includes("build_fixed"));
}

/** The state of `build_states` that news tell of. Undefined: none. */
export function stateOf({ event, build }: Heard): string | undefined {
  if (event === "job.activated") return "job_activated";
  if (event === "build.blocked") return "build_blocked";
  if (event === "build.failing") return "build_failing";
  if (event !== "build.finished") return undefined;
  const ends: Partial<Record<BuildState, string>> = {
    passed: "build_passed",
    failed: "build_failed",
    canceled: "build_canceled",
  };
  return build && ends[build.state];
}

/** The service wants builds that pass only after one that failed. */
export function wantsFixedOnly({ provider, buildStates }: Choosing, heard: Heard): boolean {
  return (
    provider !== "webhook" &&
    stateOf(heard) === "build_passed" &&
    !(buildStates ?? []).includes("build_passed")
  );
}
