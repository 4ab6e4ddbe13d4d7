import type { Role } from "../vocabulary.ts";

export const scopeWords = {
  read_pipelines: "See pipelines and their settings",
  write_pipelines: "Create, change and delete pipelines and their triggers",
  read_builds: "See builds and their jobs",
  write_builds: "Create, cancel and retry builds",
  read_build_logs: "Read the logs of jobs",
  write_build_logs: "Delete the logs of jobs",
  read_job_env: "See the environment variables of jobs",
  read_artifacts: "Download artifacts",
  write_artifacts: "Delete artifacts",
  read_agents: "See agents",
  write_agents: "Stop agents",
  read_clusters: "See clusters and their queues",
  write_clusters: "Create, change, pause and delete clusters and their queues",
  read_pipeline_templates: "See pipeline templates",
  write_pipeline_templates: "Create, change and delete pipeline templates",
  read_rules: "See rules",
  write_rules: "Create, change and delete rules",
  read_organizations: "See the organization",
  write_organizations: "Change the organization",
  read_organization_invitations: "See invitations to the organization",
  write_organization_invitations: "Invite people to the organization",
  read_organization_settings: "See the organization's settings",
  write_organization_settings: "Change the organization's settings",
  read_organization_repository_connections: "See connections to source hosting",
  write_organization_repository_connections: "Create, change and delete connections to source hosting",
  read_notification_services: "See notification services",
  write_notification_services: "Create, change and delete notification services",
  read_teams: "See teams and their members",
  write_teams: "Create, change and delete teams",
  read_user: "See your name and email address",
  write_user: "Choose which mails you get",
  read_audit_events: "Read the audit log",
  read_secrets_details: "See the names of secrets, not their values",
  write_secrets: "Create, change and delete secrets",
  read_suites: "See test suites",
  write_suites: "Create, change and delete test suites",
  read_test_plan: "See test plans",
  write_test_plan: "Create test plans",
  read_registries: "See package registries",
  write_registries: "Create and change package registries",
  delete_registries: "Delete package registries",
  read_packages: "Download packages",
  write_packages: "Publish packages",
  delete_packages: "Delete packages",
  read_portals: "See portals",
  write_portals: "Create, change and delete portals",
} as const;

export type Scope = keyof typeof scopeWords;

export const scopes = Object.keys(scopeWords) as Scope[];

/** Scopes that an operation of the REST API needs. */
export const usedScopes: readonly Scope[] = [
  "read_pipelines",
  "read_builds",
  "read_build_logs",
  "read_job_env",
  "read_artifacts",
  "read_agents",
  "read_clusters",
  "read_secrets_details",
  "read_audit_events",
  "read_organizations",
  "read_organization_settings",
  "read_organization_repository_connections",
  "read_notification_services",
  "read_user",
  "write_pipelines",
  "write_builds",
  "write_build_logs",
  "write_artifacts",
  "write_agents",
  "write_clusters",
  "write_secrets",
  "write_organization_settings",
  "write_organization_repository_connections",
  "write_notification_services",
  "write_user",
];

const adminScopes: readonly string[] = [
  "write_clusters",
  "write_organizations",
  "write_organization_settings",
  "write_organization_invitations",
  "write_organization_repository_connections",
  "write_notification_services",
  "write_teams",
] satisfies Scope[];

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeWords, text);
}

export function grantableScopes(scopes: readonly string[], role: Role): string[] {
  return role === "admin" ? [...scopes] : scopes.filter((scope) => !adminScopes.includes(scope));
}
