/** A type of Go, as `encoding/json` decodes into it. `oneOf`: a type that decodes itself takes each of these forms. */
export type GoType =
  | "string"
  | "int"
  | "bool"
  | "any"
  | "time"
  | { list: GoType }
  | { map: GoType }
  /** A map that must have one entry. */
  | { entry: GoType }
  | { struct: Record<string, GoType> }
  | { oneOf: GoType[] };

/** Returns the first place that the decoder would refuse. It skips null, and members that a struct does not have. */
export function undecodable(type: GoType, value: unknown, at = ""): string | undefined {
  if (value === null || value === undefined || type === "any") return undefined;
  const refused = `${at}: ${JSON.stringify(value)} is no ${JSON.stringify(type)}`;
  if (type === "string" || type === "time") return typeof value === "string" ? undefined : refused;
  if (type === "int") return Number.isInteger(value) ? undefined : refused;
  if (type === "bool") return typeof value === "boolean" ? undefined : refused;
  if ("oneOf" in type)
    return type.oneOf.some((each) => undecodable(each, value, at) === undefined) ? undefined : refused;
  if ("list" in type) {
    if (!Array.isArray(value)) return refused;
    return first(value.map((each, index) => undecodable(type.list, each, `${at}[${index}]`)));
  }
  if (typeof value !== "object" || Array.isArray(value)) return refused;
  if ("entry" in type && Object.keys(value).length !== 1) return refused;
  const typeOf = (name: string) => {
    if ("map" in type) return type.map;
    return "entry" in type ? type.entry : (type.struct[name] ?? "any");
  };
  return first(Object.entries(value).map(([name, each]) => undecodable(typeOf(name), each, `${at}.${name}`)));
}

function first(problems: (string | undefined)[]): string | undefined {
  return problems.find((each) => each !== undefined);
}

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "string" as const]));
const ints = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "int" as const]));
const times = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "time" as const]));
const bools = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "bool" as const]));
const ofTexts: GoType = { map: "string" };
const anyMap: GoType = { map: "any" };

// The structs of the public Go client (go-buildkite 5.14).

const person: GoType = { struct: { ...texts("id", "name", "email", "avatar_url"), ...times("created_at") } };

const step: GoType = {
  struct: {
    ...texts("type", "name", "label", "command", "artifact_paths", "branch_configuration"),
    env: ofTexts,
    timeout_in_minutes: "int",
    agent_query_rules: { list: "string" },
    plugins: { oneOf: [{ map: anyMap }, { list: { entry: anyMap } }] },
  },
};

export const pipeline: GoType = {
  struct: {
    ...texts("id", "graphql_id", "url", "web_url", "name", "slug", "repository", "builds_url", "badge_url"),
    ...texts("default_branch", "description", "branch_configuration", "cluster_id", "configuration"),
    ...texts("skip_queued_branch_builds_filter", "cancel_running_branch_builds_filter", "visibility"),
    ...bools("skip_queued_branch_builds", "cancel_running_branch_builds"),
    ...ints("scheduled_builds_count", "running_builds_count", "scheduled_jobs_count", "running_jobs_count"),
    ...ints("waiting_jobs_count", "default_command_step_timeout", "maximum_command_step_timeout"),
    ...times("created_at", "archived_at"),
    tags: { list: "string" },
    steps: { list: step },
    env: anyMap,
  },
};

const agent: GoType = {
  struct: {
    ...texts("id", "graphql_id", "url", "web_url", "name", "connection_state", "hostname", "ip_address"),
    ...texts("user_agent", "version", "os_id", "arch", "queue", "paused_note"),
    ...times("created_at", "connected_at", "disconnected_at", "lost_at", "stopped_at", "paused_at"),
    ...times("last_job_finished_at"),
    ...ints("priority", "paused_timeout_in_minutes"),
    meta_data: { list: "string" },
    creator: person,
    paused: "bool",
    paused_by: person,
  },
};

export const job: GoType = {
  struct: {
    ...texts("id", "graphql_id", "type", "name", "label", "step_key", "group_key", "state", "build_url"),
    ...texts("log_url", "logs_url", "raw_log_url", "command", "signal", "signal_reason", "artifact_paths"),
    ...texts("artifacts_url", "web_url", "retried_in_job_id", "retry_type", "unblock_url", "cluster_id"),
    ...texts("cluster_url", "cluster_queue_id", "cluster_queue_url"),
    ...ints("exit_status", "retries_count", "parallel_group_index", "parallel_group_total"),
    ...ints("promised_exit_status"),
    ...times("created_at", "scheduled_at", "runnable_at", "started_at", "finished_at", "expired_at"),
    ...times("unblocked_at", "promised_exit_status_at"),
    ...bools("retried", "soft_failed", "unblockable"),
    agent,
    agent_query_rules: { list: "string" },
    matrix: "any",
    retried_by: person,
    unblocked_by: person,
    retry_source: { struct: texts("job_id", "retry_type") },
    triggered_build: { struct: { ...texts("id", "url", "web_url"), ...ints("number") } },
    priority: { struct: ints("number") },
    step: {
      struct: {
        id: "string",
        signature: { struct: { ...texts("value", "algorithm"), signed_fields: { list: "string" } } },
      },
    },
  },
};

export const build: GoType = {
  struct: {
    ...texts("id", "graphql_id", "url", "web_url", "state", "message", "commit", "branch", "source"),
    number: "int",
    blocked: "bool",
    env: anyMap,
    meta_data: ofTexts,
    creator: person,
    pipeline,
    ...times("created_at", "scheduled_at", "started_at", "finished_at"),
    author: { oneOf: ["string", { struct: texts("username", "name", "email") }] },
    jobs: { list: job },
    rebuilt_from: { struct: { ...texts("id", "url"), ...ints("number") } },
    pull_request: { struct: texts("id", "base", "repository") },
    triggered_from: { struct: { ...texts("build_id", "build_pipeline_slug"), ...ints("build_number") } },
    job_state_counts: { struct: { total: "int", states: { map: "int" } } },
  },
};
