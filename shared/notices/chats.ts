import type { NotificationService } from "../notifications/store.ts";
import { channelsOf } from "../pipelines/notify/kinds.ts";
import type { Notice } from "../vocabulary.ts";

// Chats of an organization are its notification services for Slack. An incoming webhook posts to the channel of its
// address: a notice reaches the services whose channel it names, or all of them with a note if it names none of theirs.

/** A service, with the channel that its settings name. */
export interface Chat {
  serviceId: string;
  channel: string | null;
}

/** @param services those of an organization that are switched on */
export function chatsAmong(services: readonly NotificationService[]): Chat[] {
  return services
    .filter(({ provider }) => provider === "slack")
    .map(({ id, settings }) => ({
      serviceId: id,
      channel: typeof settings?.channel === "string" ? settings.channel : null,
    }));
}

export interface ReachedChat extends Chat {
  /** The channels of the notice, if the service stands in for them. */
  instead?: string;
}

export function reachedChats(notice: Notice, chats: readonly Chat[]): ReachedChat[] {
  const named = channelsOf(notice);
  const matching = chats.filter(
    ({ channel }) => channel !== null && named.some((each) => isSame(each, channel)),
  );
  if (matching.length > 0) return matching;
  return chats.map((chat) => ({ ...chat, instead: named.join(", ") }));
}

/** `workspace#name` and `#name` are one channel here, as `workspace@name` and `@name` are: a service has one workspace. */
function isSame(named: string, channel: string): boolean {
  const plain = (text: string) =>
    text
      .trim()
      .replace(/^.*(?:#|(?=@))/, "")
      .toLowerCase();
  return plain(named) === plain(channel);
}
