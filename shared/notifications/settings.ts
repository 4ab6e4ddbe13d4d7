import { z } from "zod";
import { issueToken } from "../crypto/tokens.ts";
import { only } from "../members/only.ts";
import type { Problem } from "../refusal.ts";
import { blankToNull, text, toProblems } from "../validation.ts";
import { agentEvents, buildEvents, jobEvents, type ServiceProvider } from "../vocabulary.ts";

// The settings of each provider: how requests give them, how they are stored, and how answers show them.

/** Events of webhooks. A build that is blocked is one that finished, and `ping` says that the service was saved. */
export const webhookEvents = [
  "ping",
  ...buildEvents.filter((event) => event !== "build.blocked" && event !== "build.changed"),
  ...jobEvents,
  ...agentEvents,
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export interface WebhookSettings {
  url: string;
  /** Of the bodies. There is one. */
  version: 3;
  token_mode: "token" | "signature";
  events: WebhookEvent[];
  tls_verify: boolean;
}
export interface SlackSettings {
  theme: "text" | "emoji";
  /** The channel of its address, by which the `notify` of pipelines finds it. */
  channel: string | null;
}
export interface EmailSettings {
  addresses: string[];
}

const maxUrlLength = 2000;
const maxAddresses = 20;

const isBlank = (given: unknown) => given === undefined || given === null || given === "";

/** @param error if it is something else */
function required<Schema extends z.ZodType>(name: string, schema: Schema) {
  return z
    .unknown()
    .superRefine((given, context) => {
      if (isBlank(given)) context.addIssue({ code: "custom", message: `${name} can't be blank` });
    })
    .pipe(schema);
}

const url = required(
  "URL",
  text("URL", maxUrlLength).refine(isHttpAddress, "URL must be an address such as https://example.com/hook"),
);

/** Requests go to what a person reads in it: it has no user and no control characters. */
function isHttpAddress(given: string): boolean {
  const parsed = URL.parse(given);
  return parsed !== null && /^https?:\/\/[\x21-\x7e]+$/.test(given) && !parsed.username && !parsed.password;
}

const token = required(
  "Token",
  text("Token", 500).regex(/^[\x21-\x7e]*$/, "Token must be one word of letters, digits and signs"),
);
const notEvents = `Events must be a list of ${webhookEvents.join(" ")}`;
const events = z
  .array(z.enum(webhookEvents, notEvents), { error: notEvents })
  .transform((given) => webhookEvents.filter((event) => given.includes(event)));
const channel = text("Channel", 100)
  .regex(/^[^\p{Cc}]*$/u, "Channel must be one line")
  .nullable()
  .transform((given) => blankToNull(given)?.trim() ?? null);
const notAddresses = `Addresses must be a list of 1 to ${maxAddresses} e-mail addresses`;
const addresses = required(
  "Addresses",
  z
    .array(z.email(notAddresses).max(254, notAddresses), { error: notAddresses })
    .min(1, notAddresses)
    .max(maxAddresses, notAddresses),
);

interface ProviderFacts {
  name: string;
  /** Its setting that is stored encrypted. */
  secret: string | null;
  /** The schemas of its settings. */
  shape: Record<string, z.ZodType>;
  /** Of a service that is created without them. Undefined: they are required. */
  defaults: Record<string, () => unknown>;
}

/** The events of a webhook that is created without them: those of a build's life. */
export const defaultEvents: WebhookEvent[] = ["ping", "build.scheduled", "build.running", "build.finished"];

export const providerFacts: Record<ServiceProvider, ProviderFacts> = {
  webhook: {
    name: "Webhook",
    secret: "token",
    shape: {
      url,
      token,
      token_mode: z.enum(["token", "signature"], "Token mode must be token or signature"),
      version: z.literal(3, "Version must be 3"),
      events,
      tls_verify: z.boolean("TLS verify must be true or false"),
    },
    defaults: {
      token: () => issueToken("service"),
      token_mode: () => "token",
      version: () => 3,
      events: () => defaultEvents,
      tls_verify: () => true,
    },
  },
  slack: {
    name: "Slack",
    secret: "url",
    shape: { url, theme: z.enum(["text", "emoji"], "Theme must be text or emoji"), channel },
    defaults: { theme: () => "text", channel: () => null },
  },
  email: { name: "E-mail", secret: null, shape: { addresses }, defaults: {} },
};

/** Why a provider of the hosted service is not here. */
const missing: Record<string, string> = {
  open_telemetry_tracing: "the operator exports traces with OTEL_EXPORTER_OTLP_ENDPOINT",
  slack_workspace: "use slack, with the address of an incoming webhook",
};
const others = ["aws_event_bridge", "datadog_pipeline_visibility", "event_log_api", "linear"];

/** Says why there is no such provider. */
export function noProviderMessage(given: unknown): string {
  if (isBlank(given)) return "Provider can't be blank";
  if (typeof given === "string" && Object.hasOwn(missing, given))
    return `Provider ${given} is not available here: ${missing[given]}`;
  if (others.some((each) => each === given)) return `Provider ${given} is not available here`;
  return `Provider must be one of ${Object.keys(providerFacts).join(" ")}`;
}

/** Settings to store. */
export interface ParsedSettings {
  settings: Record<string, unknown>;
  /** Undefined: it stays. */
  secret: string | undefined;
}

/** @param given the settings of a new service */
export function parseNewSettings(
  provider: ServiceProvider,
  given: Record<string, unknown>,
): ParsedSettings | { problems: Problem[] } {
  const { shape, defaults } = providerFacts[provider];
  const made = Object.entries(defaults).map(([name, make]) => [name, given[name] ?? make()] as const);
  return parse(provider, shape, { ...given, ...Object.fromEntries(made) });
}

/** @param given settings that change */
export function parseChangedSettings(
  provider: ServiceProvider,
  present: Record<string, unknown>,
  given: Record<string, unknown>,
): ParsedSettings | { problems: Problem[] } {
  const { shape } = providerFacts[provider];
  const some = Object.fromEntries(Object.entries(shape).filter(([name]) => given[name] !== undefined));
  const parsed = parse(provider, some, given, shape);
  return "problems" in parsed ? parsed : { ...parsed, settings: { ...present, ...parsed.settings } };
}

function parse(
  provider: ServiceProvider,
  shape: Record<string, z.ZodType>,
  given: Record<string, unknown>,
  known = shape,
): ParsedSettings | { problems: Problem[] } {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const all = Object.fromEntries(
    Object.entries(known).map(([name, schema]) => [
      name,
      Object.hasOwn(shape, name) ? schema : schema.optional(),
    ]),
  );
  const { data, error } = only("Settings", all).safeParse(present);
  if (error) return { problems: toProblems(error, "settings") };
  const { secret } = providerFacts[provider];
  if (secret === null) return { settings: data, secret: undefined };
  const { [secret]: value, ...settings } = data as Record<string, unknown>;
  return { settings, secret: value as string | undefined };
}

/** The news that a service hears of, whatever pipeline they are of. */
export function heardEvents(
  provider: ServiceProvider,
  settings: Record<string, unknown>,
  states: readonly string[],
): string[] {
  if (provider === "webhook") {
    const { events } = settings as unknown as WebhookSettings;
    const heard = events.filter((event) => event !== "ping");
    return events.includes("build.finished") ? [...heard, "build.blocked"] : heard;
  }
  const has = (...some: string[]) => some.some((state) => states.includes(state));
  return [
    ...(has("build_passed", "build_fixed", "build_failed", "build_canceled") ? ["build.finished"] : []),
    ...(has("build_blocked") ? ["build.blocked"] : []),
    ...(has("build_failing") ? ["build.failing"] : []),
    ...(has("job_activated") ? ["job.activated"] : []),
  ];
}
