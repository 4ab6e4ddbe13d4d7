import type { ServiceState } from "../../../shared/notifications/members.ts";
import { providerFacts, type WebhookEvent } from "../../../shared/notifications/settings.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import type { ServiceProvider } from "../../../shared/vocabulary.ts";

export const stateWords: Record<ServiceState, string> = {
  build_passed: "Builds that pass",
  build_fixed: "Builds that pass after one that failed",
  build_failed: "Builds that fail",
  build_blocked: "Builds that wait for somebody to unblock them",
  build_canceled: "Builds that are canceled",
  build_failing: "Builds that begin to fail",
  job_activated: "Steps that are unblocked",
};

export const eventWords: Record<WebhookEvent, string> = {
  ping: "The service was saved",
  "build.scheduled": "A build was made",
  "build.running": "A build has started",
  "build.failing": "A build begins to fail",
  "build.finished": "A build has finished, or is blocked",
  "build.skipped": "A build was skipped",
  "job.scheduled": "A job waits for an agent",
  "job.started": "A job has started",
  "job.finished": "A job has finished",
  "job.activated": "A step was unblocked",
  "job.promised_exit_status": "A running job has promised its exit status",
  "agent.connected": "An agent has connected",
  "agent.lost": "An agent was lost",
  "agent.disconnected": "An agent has disconnected",
  "agent.stopping": "An agent was asked to stop",
  "agent.stopped": "An agent has stopped",
  "agent.blocked": "Never sent: tokens of agents allow every address",
};

/** A sentence about a provider, for the page that offers them. */
export const providerWords: Record<ServiceProvider, string> = {
  webhook: "Posts JSON about builds, jobs and agents to an address, signed or with a token.",
  slack:
    "Posts a text to an incoming webhook of Slack, or of a chat that understands its format: Mattermost, Rocket.Chat, Discord with /slack at the end.",
  email: "Sends a mail about builds to addresses.",
};

/** Where it goes, without what is secret: a host, or addresses. */
export function targetInWords(
  { provider, settings }: Pick<NotificationService, "provider" | "settings">,
  secret: string | undefined,
): string {
  if (provider === "email") return ((settings?.addresses as string[] | undefined) ?? []).join(", ");
  const address = provider === "webhook" ? (settings?.url as string | undefined) : secret;
  return URL.parse(address ?? "")?.host ?? "";
}

export function providerName(provider: ServiceProvider): string {
  return providerFacts[provider].name;
}

/** The state that pages show. @param failingSince undefined: its last request was answered */
export function stateOfService(
  { enabled }: Pick<NotificationService, "enabled">,
  failingSince: Date | undefined,
) {
  if (!enabled) return "disabled";
  return failingSince ? "failing" : "enabled";
}
