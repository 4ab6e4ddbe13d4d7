import { z } from "zod";
import { maxBranchPatternsLength } from "../conditions/branches.ts";
import { type Given, inputOf } from "../members/bodies.ts";
import { changeable, type Members, type Objects } from "../members/member.ts";
import { only } from "../members/only.ts";
import { text } from "../validation.ts";
import { serviceProviders, serviceScopes } from "../vocabulary.ts";
import { noProviderMessage, webhookEvents } from "./settings.ts";
import type { NotificationService } from "./store.ts";

const maxScopeIds = 500;

const provider = z.enum(serviceProviders, { error: ({ input }) => noProviderMessage(input) });
const description = text("Description", 255)
  .nullish()
  .transform((given) => (given === undefined ? undefined : (given?.trim() ?? "")));

const scope = z
  .enum(serviceScopes, {
    error: ({ input }) =>
      input === "some_teams"
        ? "Scope some_teams is not available: there are no teams here"
        : `Scope must be one of ${serviceScopes.join(" ")}`,
  })
  .optional();
const notIds = `Scope UUIDs must be a list of at most ${maxScopeIds} ids`;
const scopeIds = z
  .array(z.uuid(notIds).toLowerCase(), { error: notIds })
  .max(maxScopeIds, notIds)
  .transform((ids) => [...new Set(ids)])
  .optional();

const branchConfiguration = text("Branch configuration", maxBranchPatternsLength).nullish();

/** States of builds and jobs of which Slack and mail tell. */
export const serviceStates = [
  "build_passed",
  "build_fixed",
  "build_failed",
  "build_blocked",
  "build_canceled",
  "build_failing",
  "job_activated",
] as const;
export type ServiceState = (typeof serviceStates)[number];

/** Of a service that is created without any. */
export const defaultStates: ServiceState[] = ["build_passed", "build_fixed", "build_failed"];

const notFlag = "Build states must be true or false";
const flags = Object.fromEntries(serviceStates.map((state) => [state, z.boolean(notFlag).optional()]));
const buildStates = only("Build states", flags)
  .transform((given) => given as Partial<Record<ServiceState, boolean>>)
  .optional();

const settings = z.record(z.string(), z.unknown(), "Settings must be an object").optional();

const shownStates = z.object(Object.fromEntries(serviceStates.map((state) => [state, z.boolean()])));
const shownSettings = z
  .object({
    url: z.string().optional().meta({ description: "Of a webhook only: that of a chat is secret" }),
    token: z.string().optional().meta({ description: "Of a webhook" }),
    token_mode: z.enum(["token", "signature"]).optional(),
    version: z.int().optional(),
    events: z.array(z.enum(webhookEvents)).optional(),
    tls_verify: z.boolean().optional(),
    theme: z.enum(["text", "emoji"]).optional(),
    channel: z.string().nullable().optional(),
    addresses: z.array(z.string()).optional(),
  })
  .meta({ description: "Those of its provider" });

type Kept =
  | ("id" | "organizationId" | "enabled" | "events" | "secretSealed" | "failureMailedAt")
  | ("createdAt" | "createdById" | "updatedAt" | "updatedById");

/** The members of a notification service. */
export const notificationServiceMembers = {
  provider: {
    rule: `\`${serviceProviders.join("`, `")}\`; never changes. Others of the hosted service are 422`,
    create: provider,
    change: provider.optional(),
    shown: null,
    audited: null,
    field: { label: "Provider", kind: "choice" },
  },
  description: {
    rule: null,
    ...changeable(description, z.string()),
    default: "",
    field: { label: "Description", hint: "Where it goes, for people." },
  },
  scope: {
    rule: "`all` (default), `some_projects` or `some_clusters`: the pipelines that it reports; `some_teams` is 422. Agents have no pipeline: `some_projects` reports none",
    ...changeable(scope, z.enum(serviceScopes)),
    default: "all",
    field: { label: "Pipelines", kind: "choice" },
  },
  scopeIds: {
    name: "scope_uuids",
    rule: `at most ${maxScopeIds} ids of these pipelines or clusters; none with \`all\``,
    ...changeable(scopeIds, z.array(z.uuid())),
    show: ({ scopeIds: ids }) => ids ?? [],
    field: { label: "Which", kind: "choice" },
  },
  branchConfiguration: {
    rule: "branch patterns of which one must match. Empty: all",
    ...changeable(branchConfiguration, z.string()),
    show: ({ branchConfiguration: patterns }) => patterns ?? "",
    field: {
      label: "Branches",
      name: "branch_configuration",
      hint: "Patterns with blanks between them, such as main release/*. Empty: all.",
      kind: "name",
    },
  },
  buildStates: {
    rule: `\`{${serviceStates.join(", ")}}\`: the states that Slack and mail report. Default: passed, fixed and failed. A change keeps absent ones. Webhooks have \`settings.events\` instead`,
    create: buildStates as never,
    change: buildStates as never,
    shown: shownStates,
    show: ({ buildStates: states }) =>
      Object.fromEntries(serviceStates.map((state) => [state, states?.includes(state) ?? false])),
    audited: "values",
    field: { label: "Tells of", kind: "choice" },
  },
  settings: {
    rule: "as its provider needs, below. A change keeps absent ones",
    create: settings,
    change: settings,
    shown: shownSettings,
    audited: "name",
    field: { label: "Settings", kind: "choice" },
  },
} satisfies Members<NotificationService, Kept>;

const objects: Objects = { "": (shape) => only("Notification service", shape) };

/** Flags of states as requests give them. */
export type GivenStates = Partial<Record<ServiceState, boolean>>;
type WithStates<Input> = Omit<Input, "buildStates"> & { buildStates?: GivenStates | undefined };

export type NewNotificationService = WithStates<Given<typeof notificationServiceMembers, "create">>;
export type NotificationServiceChange = WithStates<Given<typeof notificationServiceMembers, "change">>;
export const newNotificationService = inputOf(
  notificationServiceMembers,
  "create",
  objects,
) as z.ZodType<NewNotificationService>;
export const notificationServiceChange = inputOf(
  notificationServiceMembers,
  "change",
  objects,
) as z.ZodType<NotificationServiceChange>;
