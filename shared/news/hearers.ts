import type { Tx } from "../db/database.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { secondMs } from "../durations.ts";
import { rememberRecent } from "../sharing/recent.ts";
import { agentEvents, buildEvents, jobEvents, type NewsEvent } from "../vocabulary.ts";
import { hasHostThatHears, listServicesThatHear, type ServiceThatHears } from "./store.ts";

/** By organization: the events that somebody hears of. Others may have changed it up to a second ago. */
const remembered = rememberRecent<ReadonlySet<NewsEvent>>(10_000, { ttl: secondMs });

const allEvents: readonly NewsEvent[] = [...buildEvents, ...jobEvents, ...agentEvents];
const mailIsSent = "mail_is_sent";

/** Returns the events of which somebody hears in an organization. Reads them at most once a second. */
export async function eventsHeard(tx: Tx, organizationId: string): Promise<ReadonlySet<NewsEvent>> {
  const known = remembered.get(organizationId);
  if (known) return known;
  const heard = new Set<NewsEvent>();
  for (const service of await listServicesThatHear(tx, organizationId))
    for (const event of eventsOf(service)) heard.add(event);
  if (await hasHostThatHears(tx, organizationId)) for (const event of buildEvents) heard.add(event);
  if ((await findSharedValue(tx, mailIsSent)) === "yes") heard.add("build.finished");
  remembered.set(organizationId, heard);
  return heard;
}

/** Call after a commit that changed who hears of an organization. */
export function forgetHearers(organizationId: string): void {
  remembered.delete(organizationId);
}

/** Says if members hear by mail: those who make news need not know the mail server. */
export async function putMailIsSent(tx: Tx, isSent: boolean): Promise<void> {
  const value = isSent ? "yes" : "no";
  if ((await findSharedValue(tx, mailIsSent)) !== value) await putSharedValue(tx, mailIsSent, value);
}

function eventsOf({ events }: ServiceThatHears): readonly NewsEvent[] {
  return events ? allEvents.filter((event) => events.includes(event)) : allEvents;
}
