// The closed vocabularies of the domain. A leaf: it imports nothing.

export type Role = "admin" | "member";
export type Feature = "windows_hosted_agents" | "custom_agent_images" | "webhook_filtering";
export const buildStates = ["scheduled", "running", "passed", "failed", "canceled"] as const;
export type BuildState = (typeof buildStates)[number];
export const finishedBuildStates: BuildState[] = ["passed", "failed", "canceled"];
export const unfinishedBuildStates: BuildState[] = ["scheduled", "running"];
export type JobState = "scheduled" | "assigned" | "running" | "passed" | "failed" | "canceled" | "expired";
export const unfinishedJobStates: JobState[] = ["scheduled", "assigned", "running"];
export type DeliveryStatus = "build_created" | "not_run" | "failed";
export type DeliveryReason = "filter_mismatch" | "filter_evaluation_failed" | "build_creation_failed";
/** Encoding of stored payload bytes. */
export type PayloadCodec = "identity" | "deflate";
/** The reason why a delivery was not accepted. */
export type RefusalCause =
  | "wrong_method"
  | "invalid_token"
  | "not_found"
  | "disabled"
  | "wrong_content_type"
  | "form_content_type"
  | "wrong_encoding"
  | "too_large"
  | "too_slow"
  | "too_many_uploads"
  | "invalid_signature"
  | "long_idempotency_key"
  | "rate_limited"
  | "invalid_json"
  | "too_deep"
  | "too_many_large"
  | "busy";
export const retryAgentAffinities = ["prefer-warmest", "prefer-different"] as const;
export type RetryAgentAffinity = (typeof retryAgentAffinities)[number];
export type DeviceCodeState = "pending" | "approved" | "denied" | "expired" | "used";

/** Names of variables that every build sets itself. */
export const reservedVariable = /^SIGNALBOX(_|$)/;

export interface Step {
  label?: string;
  command: string;
  agents?: { queue?: string };
}

/** A request header as stored. Null replaces a secret value, which is never stored. */
export type StoredHeader = [name: string, value: string | null];
