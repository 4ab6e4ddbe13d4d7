// The closed vocabularies of the domain. A leaf: it imports nothing.

export type Role = "admin" | "member";
export type Feature = "windows_hosted_agents" | "custom_agent_images" | "webhook_filtering";
export const buildStates = [
  "scheduled",
  "running",
  "failing",
  "canceling",
  "passed",
  "failed",
  "canceled",
  /** All of its steps were left out. */
  "not_run",
  /** A later build of its branch came before it began. */
  "skipped",
  // Nothing runs or can run until somebody unblocks a step. Callers see the state behind `blocked_`.
  "blocked_passed",
  "blocked_failed",
  "blocked_running",
] as const;
export type BuildState = (typeof buildStates)[number];
export const finishedBuildStates: BuildState[] = ["passed", "failed", "canceled", "not_run", "skipped"];
export const blockedBuildStates: BuildState[] = ["blocked_passed", "blocked_failed", "blocked_running"];
export type BlockedState = Extract<BuildState, `blocked_${string}`>;
export type ShownBuildState = Exclude<BuildState, BlockedState>;
export const shownBuildStates = buildStates.filter(
  (state): state is ShownBuildState => !blockedBuildStates.includes(state),
);
export function isBlocked(state: BuildState): state is BlockedState {
  return blockedBuildStates.includes(state);
}
/** The state as callers see it, beside the news that the build is blocked. */
export function shownState(state: BuildState): ShownBuildState {
  return state.replace(/^blocked_/, "") as ShownBuildState;
}
/** The states that a filter by a state, or by `blocked`, `running` or `finished`, finds. */
export function statesOfFilter(given: string): BuildState[] | undefined {
  if (given === "finished") return [...finishedBuildStates, "blocked_passed", "blocked_failed"];
  if (given === "blocked") return blockedBuildStates;
  if (given === "running") return [...runningBuildStates, "blocked_running"];
  if (given === "passed" || given === "failed") return [given, `blocked_${given}`];
  const same = shownBuildStates.filter((state) => state === given);
  return same.length > 0 ? same : undefined;
}
/** Without those that wait for people. */
export const runningBuildStates: BuildState[] = ["running", "failing", "canceling"];
export const unfinishedBuildStates: BuildState[] = [
  "scheduled",
  ...runningBuildStates,
  ...blockedBuildStates,
];
export const jobStates = [
  "waiting",
  /** A manual step that nobody has unblocked, or a job behind one. */
  "blocked",
  /** It waits for its concurrency group alone. */
  "limited",
  "scheduled",
  /** A stack is about to start an agent for it. */
  "reserved",
  "assigned",
  "running",
  "canceling",
  "timing_out",
  "passed",
  "failed",
  "canceled",
  "timed_out",
  "expired",
  "waiting_failed",
  "blocked_failed",
  /** A manual step that somebody released. */
  "unblocked",
  /** The same, in a build that failed then. */
  "unblocked_failed",
  /** Left out, by a condition, its branch or on request. */
  "broken",
  /** Left out by something outside of its build. */
  "skipped",
] as const;
export type JobState = (typeof jobStates)[number];
/** The state as callers see it: a job that waits for its concurrency group alone is scheduled to them. */
export function shownJobState(state: JobState): JobState {
  return state === "limited" ? "scheduled" : state;
}
/** The states that a filter of jobs by a state, or by `finished`, finds. `limited` finds some of those shown as scheduled. */
export function jobStatesOfFilter(given: string): JobState[] | undefined {
  if (given === "finished") return ["passed", "failed"];
  const found = jobStates.filter((state) => state === given || shownJobState(state) === given);
  return found.length > 0 ? found : undefined;
}
/** Ways of failing that let a build fail. */
export const hardFailures = ["failed", "timed_out", "expired", "canceled"] as const satisfies JobState[];
/** Ways of failing after which a job may be retried. Soft: in any of the others, and the build goes on. */
export const failures = [...hardFailures, "soft_failed"] as const;
export type Failure = (typeof failures)[number];
/** An agent has the job. */
export const leasedJobStates: JobState[] = ["assigned", "running", "canceling", "timing_out"];
/** Its command runs, or is being stopped. */
export const runningJobStates: JobState[] = ["running", "canceling", "timing_out"];
/** An agent has the job, or a stack is about to start one for it. */
export const takenJobStates: JobState[] = ["reserved", ...leasedJobStates];
/** The job runs, or will run without waiting for other steps. */
export const activeJobStates: JobState[] = ["limited", "scheduled", ...takenJobStates];
/** The job waits for other steps. */
export const waitingJobStates: JobState[] = ["waiting", "blocked"];
export const unfinishedJobStates: JobState[] = [...waitingJobStates, ...activeJobStates];
export const finishedJobStates: JobState[] = jobStates.filter(
  (state) => !unfinishedJobStates.includes(state),
);
/** As public clients name them. */
export const stackTypes = ["kubernetes", "elastic", "custom"] as const;
export type StackType = (typeof stackTypes)[number];
/** A manual job is that of a block or an input step. */
export type JobType = "script" | "waiter" | "manual" | "trigger";
/** Holding: the job counts towards the limit of its concurrency group. Limited: it waits for the group alone. */
export type EntryStanding = "waiting" | "limited" | "holding";
/** The subject and source of a word of searches: message and author of a build, its branch, the id a sender gave. */
export type WordKind = "word" | "branch" | "delivery";
/** Kinds of later work, by what they are about. */
export type TaskKind =
  /** Of a concurrency group: start jobs that it has room for. */
  | "group"
  /** Of a job of a trigger step: make its build. */
  | "trigger"
  /** Of a build that a step triggered: bring the step into line with it. */
  | "mirror"
  /** Of a job of a trigger step that was canceled: cancel its build. */
  | "cancel"
  /** Of a build: skip or cancel older ones of its branch. */
  | "branch"
  /** Of a build: cancel it and older ones, whose branch is gone. */
  | "branch_gone"
  /** Of a build: fail its scheduled jobs that have no queue. */
  | "queueless"
  /** Of a stack that is gone or lost: schedule the jobs that it reserved. */
  | "stack"
  /** Of a queue: mark its waiting jobs as paused, or clear the mark. */
  | "pause"
  /** Of a bulk rebuild: build the next of its deliveries. */
  | "bulk_rebuild"
  /** Of an artifact that a bucket got in parts: compare it with what was announced. */
  | "artifact"
  /** Of an organization: bring the webhooks of its pipelines into line with their providers. */
  | "providers"
  /** Of a notification service or repository connection that was changed: send its resting messages again. */
  | "wake";
export type RetryType = "manual" | "automatic";
/** Registered: not yet connected. Lost: missed its heartbeats; may come back. */
export const agentStates = ["registered", "connected", "lost", "disconnected"] as const;
export type AgentState = (typeof agentStates)[number];
export type DeliveryStatus = "build_created" | "not_run" | "failed";
/** The reasons why an event of a source host makes no build, in the order in which they are looked at. */
const eventReasons = [
  "event_ignored",
  "other_repository",
  "branch_deleted",
  "builds_of_branches_off",
  "builds_of_tags_off",
  "builds_of_pull_requests_off",
  "fork",
  "skip_ci",
  "branch_mismatch",
  "filter_mismatch",
  "commit_built",
] as const;
export type EventReason = (typeof eventReasons)[number];
export const deliveryReasons = [
  ...eventReasons,
  "event_not_understood",
  "filter_evaluation_failed",
  "build_creation_failed",
  "pipeline_archived",
] as const;
export type DeliveryReason = (typeof deliveryReasons)[number];
/** The reason why a pipeline does not want a build. */
export type UnwantedReason = "pipeline_archived" | "branch_mismatch";
/** The deliveries that a bulk rebuild builds, as it is stored: times are of ISO 8601. */
export interface BulkRebuildFilter {
  status?: DeliveryStatus;
  event?: string;
  /** The text of the search: the sender's own id, or an Idempotency-Key. */
  sentAs?: string;
  /** The delivery that had `sentAs` as its Idempotency-Key. */
  id?: string;
  receivedFrom?: string;
  receivedTo?: string;
}
/** Jobs are counted by how long they waited: the upper bounds, in seconds. */
export const waitSeconds = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 14_400, 86_400] as const;
export type WaitFigure = `waited_${(typeof waitSeconds)[number]}` | "waited_longer";
/** A count of a minute or an hour, or the highest number in it. Deliveries count in the minute in which they came. */
export type FigureName =
  | "deliveries_built"
  | "deliveries_filtered"
  | "deliveries_failed"
  /** Ten minutes after they came. */
  | "deliveries_undecided"
  | "builds_created"
  /** In the minute in which their build finished. */
  | WaitFigure
  | "jobs_waiting"
  | "jobs_running"
  | "agents_connected"
  /** Belongs to no queue. 1: a worker looked at all queues. */
  | "queues_sampled";
/** Encoding of stored payload bytes. */
export type PayloadCodec = "identity" | "deflate";
/** The reason why a delivery was not accepted. */
export type RefusalCause =
  | "wrong_method"
  | "invalid_token"
  | "not_found"
  | "disabled"
  | "forbidden_address"
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
  | "busy";
export const retryAgentAffinities = ["prefer-warmest", "prefer-different"] as const;
export type RetryAgentAffinity = (typeof retryAgentAffinities)[number];
export type DeviceCodeState = "pending" | "approved" | "denied" | "expired" | "used";

/** Names of variables that every build sets itself. */
export const reservedVariable = /^SIGNALBOX(_|$)/;

/** Keys of secrets begin with a letter, so that they can be names of variables. */
export const secretKeyPattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** A step of a pipeline as it is stored. Callers can send it again. */
export type Step = PlainStep | GroupStep;
export type PlainStep = CommandStep | WaitStep | ManualStep | TriggerStep;

/** Members of all kinds of steps. */
export interface CommonStep {
  label?: string;
  key?: string;
  /** A condition (shared/conditions): the step is left out unless it holds. */
  if?: string;
  /** Patterns of branches, separated by spaces: the step is left out on others. */
  branches?: string;
  /** An empty list: the step waits for nothing. Absent: it waits for the barriers before it. */
  depends_on?: Dependency[];
  allow_dependency_failure?: boolean;
  /** Members that nothing here reads, as they came. They are warnings. */
  others?: Record<string, unknown>;
}

/** A step or a group that must end first, by its key. */
export interface Dependency {
  step: string;
  allow_failure?: boolean;
}

export interface CommandStep extends CommonStep, StepOptions {
  command: string;
  agents?: AgentTags;
  /** Jobs with a higher one are handed out first. Default: 0. */
  priority?: number;
  /** Jobs that the step becomes. */
  parallelism?: number;
  matrix?: Matrix;
  /** The step is left out. A text is the reason. */
  skip?: boolean | string;
}

/** The queue, and tags that the agent must have. A list: several values of one tag. `*`: any value. */
export interface AgentTags {
  queue?: string;
  [tag: string]: string | string[] | undefined;
}

/** Members of a command step that its jobs keep. */
export interface StepOptions {
  key?: string;
  env?: Record<string, string>;
  timeout_in_minutes?: number;
  /** True: every failure is soft. A list: these exit statuses are. */
  soft_fail?: boolean | number[];
  retry?: {
    automatic?: AutomaticRetry[];
    manual?: { allowed: boolean; permit_on_passed: boolean; reason?: string };
  };
  plugins?: unknown[];
  image?: string;
  /** Patterns of files that agents upload when the command has ended, parted by `;`. */
  artifact_paths?: string;
  /** Secrets of the cluster that agents fetch for the step, and give its command as variables. */
  secrets?: StepSecret[];
  checkout?: StepCheckout;
  /** A signature of the step, which agents check. */
  signature?: Record<string, unknown>;
  /** Jobs of its concurrency group that run at once. A step has both or none. */
  concurrency?: number;
  concurrency_group?: string;
  /** Absent: jobs of the group start in their order. */
  concurrency_method?: "eager";
  /** Its unfinished jobs are canceled once the build fails. */
  cancel_on_build_failing?: boolean;
  notify?: Notice[];
}

/** The kinds of notices. Those of steps may be the notice of a build, too. */
export const noticeKinds = [
  "email",
  "webhook",
  "slack",
  "basecamp_campfire",
  "pagerduty_change_event",
  "github_commit_status",
  "github_check",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** Somebody who hears of a build or a step: one kind, and a condition that is evaluated at each event. */
export interface Notice {
  if?: string;
  /** An address. */
  email?: string;
  /** A URL. */
  webhook?: string;
  /** Channels: `#name`, `workspace#name`, `@user` or an id. */
  slack?: string | { channels: string[]; message?: string };
  /** A URL. */
  basecamp_campfire?: string;
  /** The key of an integration. */
  pagerduty_change_event?: string;
  github_commit_status?: { context?: string; blocked_builds_as_pending?: boolean };
  github_check?: { name?: string; output?: Record<string, unknown> };
}

/** As agents get it. */
export interface StepSecret {
  key: string;
  environment_variable: string;
}

/** The checkout that agents do. An absent member leaves it to variables and to the agent. */
export interface StepCheckout {
  /** Nothing is checked out. */
  skip?: boolean;
  submodules?: boolean;
  lfs?: boolean;
  /** Commits of the history. */
  depth?: number;
  /** Options of commands of git. Empty text: none, where agents have some of their own. */
  flags?: { [command in GitCommand]?: string };
  /** Only these folders. An empty list: all. */
  sparse?: { paths?: string[] };
  commit_verification?: CommitVerification;
  /** The key of the cluster's secret that holds the SSH key. */
  ssh_secret?: string;
}

export const gitCommands = ["clone", "fetch", "checkout", "clean"] as const;
export type GitCommand = (typeof gitCommands)[number];

/** Checks that the commit is on its branch. Empty text: agents of version 3 do not. */
export const commitVerifications = ["strict", "warn", "off", ""] as const;
export type CommitVerification = (typeof commitVerifications)[number];

/** A step becomes a job for each combination. A list and a text: the only dimension, which has no name. */
export interface Matrix {
  setup: string[] | Record<string, string[]>;
  adjustments?: MatrixAdjustment[];
}

export interface MatrixAdjustment {
  with: string | Record<string, string>;
  skip?: boolean | string;
  soft_fail?: StepOptions["soft_fail"];
}

/** The label of a group is its name. */
export interface GroupStep extends CommonStep {
  type: "group";
  skip?: boolean | string;
  notify?: Notice[];
  steps: PlainStep[];
}

/** All conditions must hold; an absent one always does. */
export interface AutomaticRetry {
  /** `*`: all but 0. */
  exit_status?: "*" | ("*" | number)[];
  /** Upper case, without `SIG`; `*`: any and none. */
  signal?: "*" | string[];
  signal_reason?: "*" | SignalReason[];
  limit: number;
}

/** Reasons for a signal that rules for retries may name. `none` stands for none. */
export const signalReasons = [
  "cancel",
  "agent_stop",
  "agent_refused",
  "agent_incompatible",
  "process_run_error",
  "signature_rejected",
  "stack_error",
  "none",
] as const;
export type SignalReason = (typeof signalReasons)[number];

/** Agents and rules write `SIGKILL`, `kill` and the like. */
export function signalName(given: string): string {
  return given.toUpperCase().replace(/^SIG/, "");
}

/** Later steps wait until the earlier ones have passed. */
export interface WaitStep extends CommonStep {
  type: "wait";
  continue_on_failure?: boolean;
}

/** Waits until somebody unblocks it. Later steps wait for a block as for a wait, and not for an input. */
export interface ManualStep extends CommonStep, ManualOptions {
  type: ManualType;
}

export type ManualType = "block" | "input";

/** Members of a block or an input step that its job keeps. */
export interface ManualOptions {
  prompt?: string;
  /** The text of the button. */
  submit?: string;
  /** Questions to the person who unblocks it. The answers become meta-data of the build. */
  fields?: ManualField[];
  /** The state of the build while it waits. Absent: passed. */
  blocked_state?: "failed" | "running";
  /** Only admins may unblock it: there are no teams here. */
  allowed_teams?: string[];
}

export type ManualField = TextField | SelectField;

interface CommonField {
  /** Of the meta-data. */
  key: string;
  hint?: string;
  /** Absent: an answer is required. */
  required?: false;
}

export interface TextField extends CommonField {
  /** The name that pages show. */
  text: string;
  default?: string;
  /** A regular expression that all of the answer must match. */
  format?: string;
}

export interface SelectField extends CommonField {
  /** The name that pages show. */
  select: string;
  options: { label: string; value: string }[];
  /** The answer is a list of values. */
  multiple?: true;
  default?: string | string[];
}

/** Makes builds of another pipeline. */
export interface TriggerStep extends CommonStep, TriggerOptions {
  type: "trigger";
  soft_fail?: boolean | number[];
  /** Builds that the step makes. */
  parallelism?: number;
  skip?: boolean | string;
}

/** Members of a trigger step that its jobs keep. */
export interface TriggerOptions {
  /** The slug of the pipeline. */
  trigger: string;
  build?: {
    message?: string;
    commit?: string;
    branch?: string;
    env?: Record<string, string>;
    meta_data?: Record<string, string>;
  };
  /** The step passes once the build exists. */
  async?: boolean;
}

export function isCommandStep(step: Step): step is CommandStep {
  return !("type" in step);
}

export function isManualStep(step: Step): step is ManualStep {
  return "type" in step && (step.type === "block" || step.type === "input");
}

export function isTriggerStep(step: Step): step is TriggerStep {
  return "type" in step && step.type === "trigger";
}

/** The commands of steps and of their groups. */
export function commandsOf(steps: Step[]): CommandStep[] {
  return steps.flatMap((step) =>
    isGroupStep(step) ? commandsOf(step.steps) : isCommandStep(step) ? [step] : [],
  );
}

export function isGroupStep(step: Step): step is GroupStep {
  return "type" in step && step.type === "group";
}

/** A part of the tree of a build's steps (shared/graph/tree.ts). */
export type Node = StepNode | GroupNode | UploadNode;

export interface StepNode extends Waiting {
  id: string;
  /** Later steps of its list wait for it: a wait or a block. Absent if it was left out. */
  wait?: true;
  /** Somebody must unblock it: a block or an input. Absent if it was left out. */
  manual?: true;
  /** Of a wait: failures since the wait before it do not count. */
  continueOnFailure?: true;
}

export interface GroupNode extends Waiting {
  id: string;
  label: string | null;
  steps: Node[];
}

export interface UploadNode {
  uploadedBy: { step: string; job: string };
  steps: Node[];
}

interface Waiting {
  key?: string;
  /** Absent: the waits before it. An empty list: nothing. */
  dependsOn?: Dependency[];
  allowDependencyFailure?: true;
}

/** A member that an audited update changed, as the REST API names it. Secrets have no values. */
export interface AuditChange {
  field: string;
  before?: string | number | boolean | null;
  after?: string | number | boolean | null;
  /** Of a long member: the lines, or names of variables, that changed, behind a mark (members/difference.ts). */
  difference?: string;
}

/** A request header as stored. Null replaces a secret value, which is never stored. */
export type StoredHeader = [name: string, value: string | null];

export const hmacAlgorithms = ["sha256", "sha1", "sha512"] as const;
export const hmacEncodings = ["hex", "base64"] as const;

/** An HMAC of the raw body. */
export interface HmacSignature {
  header: string;
  algorithm: (typeof hmacAlgorithms)[number];
  encoding: (typeof hmacEncodings)[number];
  /** Comes before the encoded HMAC. */
  prefix: string;
}

/** Of an artifact. `new`: announced, its bytes are not all here. `deleted` by a person, `expired` by age or by a limit of bytes. */
export const artifactStates = ["new", "finished", "error", "deleted", "expired"] as const;
export type ArtifactState = (typeof artifactStates)[number];

export const annotationStyles = ["info", "success", "warning", "error"] as const;
export type AnnotationStyle = (typeof annotationStyles)[number];

export const annotationScopes = ["build", "job"] as const;
export type AnnotationScope = (typeof annotationScopes)[number];

/** News of a build. `build.changed`: it has another state, and the event has no name outside. */
export const buildEvents = [
  "build.scheduled",
  "build.running",
  "build.failing",
  "build.blocked",
  "build.finished",
  "build.skipped",
  "build.changed",
] as const;
export type BuildEvent = (typeof buildEvents)[number];
export const jobEvents = [
  "job.scheduled",
  "job.started",
  "job.finished",
  "job.activated",
  "job.promised_exit_status",
] as const;
export type JobEvent = (typeof jobEvents)[number];
export const agentEvents = [
  "agent.connected",
  "agent.lost",
  "agent.disconnected",
  "agent.stopping",
  "agent.stopped",
  "agent.blocked",
] as const;
export type AgentEvent = (typeof agentEvents)[number];
export type NewsEvent = BuildEvent | JobEvent | AgentEvent;

/** Kinds of messages: statuses of commits, requests of notification services, notices of a document's `notify`, mails to members. */
export const messageKinds = ["status", "service", "notify", "mail"] as const;
export type MessageKindName = (typeof messageKinds)[number];
/** Dropped: by an operator, or there was nothing left to say. */
const messageStates = ["waiting", "sent", "failed", "dropped"] as const;
export type MessageState = (typeof messageStates)[number];

export const serviceProviders = ["webhook", "slack", "email"] as const;
export type ServiceProvider = (typeof serviceProviders)[number];
export const serviceScopes = ["all", "some_projects", "some_clusters"] as const;
export type ServiceScope = (typeof serviceScopes)[number];

/** Of which of their own builds members get mail. */
export const buildMails = ["failed", "all", "none"] as const;
export type BuildMails = (typeof buildMails)[number];
