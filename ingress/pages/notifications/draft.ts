import { defaultStates, serviceStates } from "../../../shared/notifications/members.ts";
import { defaultEvents, providerFacts } from "../../../shared/notifications/settings.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import type { ListedPipeline } from "../../../shared/pipelines/store.ts";
import type { ServiceProvider } from "../../../shared/vocabulary.ts";
import type { FieldNames } from "../ui/problems.ts";

/** The form of a service, as it starts or was sent. */
export interface ServiceDraft {
  provider: ServiceProvider;
  /** By name of the field. */
  texts: Readonly<Record<string, string>>;
  /** The slugs of pipelines, separated by spaces. */
  pipelines: string;
  /** Ids. */
  clusters: readonly string[];
  states: readonly string[];
  events: readonly string[];
  verifiesTls: boolean;
}

const textFields = ["description", "scope", "branch_configuration"] as const;
/** Settings that are text, by provider. */
const textSettings: Record<ServiceProvider, readonly string[]> = {
  webhook: ["url", "token", "token_mode"],
  slack: ["url", "theme", "channel"],
  email: ["addresses"],
};

export function emptyDraft(provider: ServiceProvider): ServiceDraft {
  return {
    provider,
    texts: { scope: "all", token_mode: "signature", theme: "emoji" },
    pipelines: "",
    clusters: [],
    states: defaultStates,
    events: defaultEvents,
    verifiesTls: true,
  };
}

/**
 * The form that changes a service, without the address of a chat.
 * @param pipelines those of its scope
 */
export function draftOfService(
  service: NotificationService,
  { pipelines, token }: { pipelines: Pick<ListedPipeline, "slug">[]; token: string | undefined },
): ServiceDraft {
  const { provider, description, scope, scopeIds, branchConfiguration, buildStates, settings } = service;
  const shown = Object.entries({ ...settings, token }).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join("\n") : String(value ?? ""),
  ]);
  return {
    provider,
    texts: {
      ...Object.fromEntries(shown),
      description,
      scope,
      branch_configuration: branchConfiguration ?? "",
    },
    pipelines: pipelines.map(({ slug }) => slug).join(" "),
    clusters: scope === "some_clusters" ? (scopeIds ?? []) : [],
    states: buildStates ?? [],
    events: (settings?.events as string[] | undefined) ?? [],
    verifiesTls: settings?.tls_verify !== false,
  };
}

export function readService(provider: ServiceProvider, form: URLSearchParams): ServiceDraft {
  const names = [...textFields, ...textSettings[provider]];
  return {
    provider,
    texts: Object.fromEntries(names.map((name) => [name, (form.get(name) ?? "").trim()])),
    pipelines: form.get("pipelines") ?? "",
    clusters: form.getAll("cluster"),
    states: form.getAll("state"),
    events: form.getAll("event"),
    verifiesTls: form.has("tls_verify"),
  };
}

/** Fields by the REST members of their problems. */
export const fieldNames: FieldNames = (member) =>
  ({
    description: "description",
    scope: "scope",
    branch_configuration: "branch_configuration",
    build_states: "states",
    "settings.url": "url",
    "settings.token": "token",
    "settings.channel": "channel",
    "settings.events": "events",
    "settings.addresses": "addresses",
    pipelines: "pipelines",
    scope_uuids: "scope",
  })[member.replace(/\.\d+$/, "")];

/**
 * The body of REST that says what a draft says.
 * @param scopeIds ids of the pipelines or clusters
 * @param isNew else a secret that is left empty stays
 */
export function bodyOfDraft(draft: ServiceDraft, scopeIds: readonly string[], isNew: boolean): object {
  const { provider, texts } = draft;
  return {
    ...(isNew && { provider }),
    description: texts.description,
    scope: texts.scope,
    scope_uuids: scopeIds,
    branch_configuration: texts.branch_configuration,
    ...(provider !== "webhook" && {
      build_states: Object.fromEntries(serviceStates.map((state) => [state, draft.states.includes(state)])),
    }),
    settings: settingsOf(draft),
  };
}

function settingsOf({ provider, texts, events, verifiesTls }: ServiceDraft): Record<string, unknown> {
  const { secret } = providerFacts[provider];
  const given = textSettings[provider].filter((name) => name !== secret || texts[name] !== "");
  const settings: Record<string, unknown> = Object.fromEntries(given.map((name) => [name, texts[name]]));
  if (provider === "email") settings.addresses = (texts.addresses ?? "").split(/[\s,;]+/).filter(Boolean);
  return provider === "webhook" ? { ...settings, events, tls_verify: verifiesTls } : settings;
}
