import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { dayMs, minuteMs } from "../../../shared/durations.ts";
import { patterns } from "../../../shared/paths.ts";
import { pipelineMembers } from "../../../shared/pipelines/members.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { type Problem, validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import { type Operation, operation } from "../../operations/operation.ts";

// Settings of organizations that clients read and set. Here the operator sets what can be set, for all organizations: a
// change to what holds already is 200, and any other 422, so that nobody believes in a restriction that is none.

const user = z.object({ id: field.id, name: z.string() });
const feature = z.object({
  enabled: z.boolean(),
  enabled_at: field.timestamp.nullable(),
  enabled_by: user.nullable(),
});
const minutes = z.int().nullable();

const apiSettings = z
  .object({
    url: field.url,
    allowed_ip_addresses: z.string().nullable(),
    revoke_inactive_tokens_after_days: z.int().nullable(),
    restrict_user_api_token_creation: z.boolean(),
    features: z.record(z.string(), z.boolean()),
  })
  .meta({ id: "ApiSettings" });

const pipelineSettings = z
  .object({
    url: field.url,
    default_branch: z.string(),
    default_cluster_id: field.id.nullable(),
    default_timeout_in_minutes: minutes,
    maximum_timeout_in_minutes: minutes,
    scheduled_job_expiry_in_minutes: minutes.meta({ description: "`JOB_EXPIRY_DAYS`" }),
    hosted_agents_terminal_access: feature,
    public_pipeline_creation: feature,
    advanced_queue_metrics: feature.extend({ disable_supported: z.boolean() }),
    build_exports: z.object({
      available: z.boolean(),
      enabled: z.boolean(),
      location: z.string().nullable(),
      strategy_id: z.string().nullable(),
      supported_strategies: z.array(z.string()),
    }),
  })
  .meta({ id: "PipelineSettings" });

const off = { enabled: false, enabled_at: null, enabled_by: null };

/** By member: what an answer to its change says of it. */
const fixedApiSettings = {
  allowed_ip_addresses: "Allowed IP addresses are not supported: leave them out, or null",
  revoke_inactive_tokens_after_days: "Inactive tokens are not revoked here: leave it out, or null",
  restrict_user_api_token_creation: "Every member may create access tokens: leave it out, or false",
};
const fixedPipelineSettings = {
  default_branch: "The default branch of new pipelines is always main: a pipeline may name another",
  default_cluster_id: "There is no default cluster for new pipelines: leave it out, or null",
  default_timeout_in_minutes: "Organizations have no time-out: a pipeline may have one",
  maximum_timeout_in_minutes: "Organizations have no maximum time-out: a pipeline may have one",
  scheduled_job_expiry_in_minutes: "The operator sets when jobs expire, by JOB_EXPIRY_DAYS",
};

function changeOf(fixed: Record<string, string>) {
  return z.looseObject(
    Object.fromEntries(
      Object.entries(fixed).map(([name, words]) => [
        name,
        z.unknown().optional().meta({ description: words }),
      ]),
    ),
  );
}

/** @throws Refusal 422 if a member would change */
function requireUnchanged(
  given: Record<string, unknown>,
  present: Record<string, unknown>,
  fixed: Record<string, string>,
): void {
  const problems = Object.entries(fixed).flatMap(([name, message]): Problem[] =>
    given[name] === undefined || given[name] === present[name] ? [] : [{ field: name, message }],
  );
  if (problems.length > 0) throw validationFailed(...problems);
}

export function settingsOperations({ config }: Services): Operation[] {
  const tag = "Organizations";
  const reading = { tag, scope: "read_organization_settings", needsAdmin: true } as const;
  const writing = { tag, scope: "write_organization_settings", needsAdmin: true } as const;
  const refusals = { 422: ["Validation failed: …: none of them can be changed"] };
  const ofApi = ({ slug }: Organization) => ({
    url: api.apiSettings(config, slug),
    allowed_ip_addresses: null,
    revoke_inactive_tokens_after_days: null,
    restrict_user_api_token_creation: false,
    features: { api_ip_allow_list: false, inactive_api_token_revocation: false },
  });
  const ofPipelines = ({ slug }: Organization) => ({
    url: api.pipelineSettings(config, slug),
    default_branch: pipelineMembers.defaultBranch.default,
    default_cluster_id: null,
    default_timeout_in_minutes: null,
    maximum_timeout_in_minutes: null,
    scheduled_job_expiry_in_minutes: (config.jobExpiryDays * dayMs) / minuteMs,
    hosted_agents_terminal_access: off,
    public_pipeline_creation: off,
    advanced_queue_metrics: { ...off, disable_supported: false },
    build_exports: {
      available: false,
      enabled: false,
      location: null,
      strategy_id: null,
      supported_strategies: [],
    },
  });
  const turnOff = (path: string, id: string, what: string) =>
    operation({
      ...writing,
      methods: ["DELETE"],
      path,
      id,
      summary: `Turn ${what} off, which are off always`,
      success: { status: 200, schema: pipelineSettings, description: "The settings" },
      run: async ({ caller }) => ofPipelines(caller.organization),
    });
  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.apiSettings,
      id: "getApiSettings",
      summary: "The settings of an organization's API",
      success: { status: 200, schema: apiSettings, description: "The settings" },
      run: async ({ caller }) => ofApi(caller.organization),
    }),
    operation({
      ...writing,
      methods: ["PATCH"],
      path: patterns.apiSettings,
      id: "updateApiSettings",
      summary: "Check the settings of an organization's API: none can be changed",
      body: { schema: changeOf(fixedApiSettings) },
      success: { status: 200, schema: apiSettings, description: "The settings" },
      refusals,
      run: async ({ caller, readBody }) => {
        const present = ofApi(caller.organization);
        requireUnchanged(await readBody(), present, fixedApiSettings);
        return present;
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipelineSettings,
      id: "getPipelineSettings",
      summary: "What holds for the pipelines of an organization",
      success: { status: 200, schema: pipelineSettings, description: "The settings" },
      run: async ({ caller }) => ofPipelines(caller.organization),
    }),
    operation({
      ...writing,
      methods: ["PATCH"],
      path: patterns.pipelineSettings,
      id: "updatePipelineSettings",
      summary: "Check what holds for the pipelines of an organization: nothing can be changed",
      body: { schema: changeOf(fixedPipelineSettings) },
      success: { status: 200, schema: pipelineSettings, description: "The settings" },
      refusals,
      run: async ({ caller, readBody }) => {
        const present = ofPipelines(caller.organization);
        requireUnchanged(await readBody(), present, fixedPipelineSettings);
        return present;
      },
    }),
    turnOff(patterns.hostedAgentsSsh, "disableHostedAgentsSsh", "sessions inside jobs"),
    turnOff(patterns.publicPipelines, "disablePublicPipelines", "public pipelines"),
    turnOff(patterns.buildExport, "disableBuildExport", "exports of builds"),
  ];
}
