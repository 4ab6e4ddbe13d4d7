import { setTimeout as pause } from "node:timers/promises";
import { toPrintableJson } from "../../shared/control-characters.ts";
import { secondMs } from "../../shared/durations.ts";
import { lowestIdAt } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { secretOf } from "../../shared/triggers/columns.ts";
import { type Delivery, listDeliveriesPage } from "../../shared/triggers/deliveries/store.ts";
import { findPayload, type Payload } from "../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../shared/triggers/store.ts";
import { signatureHeaders, typeOfTrigger } from "../../shared/triggers/types.ts";

export interface Forwarding {
  trigger: Trigger;
  /** Where to, http or https. */
  url: string;
  /** Starts with this many of the deliveries that came before. */
  last: number;
  /** Goes on with what arrives until the signal. */
  follows: boolean;
  signal?: AbortSignal | undefined;
  /** Gets a line for each delivery. */
  report: (line: string) => void;
}

const pollMs = secondMs;
const timeoutMs = 30 * secondMs;
const pageSize = 100;
/** A delivery's id is made before its commit, so one may follow another that has a later id. */
const lateCommitMs = 10 * secondMs;
/** Headers of the connection that the webhook came by. */
const omitted =
  /^(connection|content-length|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Posts deliveries of a trigger to another address, oldest first: the bytes and headers that came, signed anew with the
 * trigger's secret. Headers with secrets are not stored, so they are missing.
 * @throws Refusal 422
 */
export async function forwardDeliveries(services: Services, forwarding: Forwarding) {
  const { trigger, last, follows, signal } = forwarding;
  requireHttp(forwarding.url);
  const counts = { forwarded: 0, failed: 0 };
  const sent = new Set<string>();
  const send = async (deliveries: Delivery[]) => {
    for (const delivery of deliveries) {
      if (sent.has(delivery.id) || signal?.aborted) continue;
      sent.add(delivery.id);
      counts[(await forward(services, forwarding, delivery)) ? "forwarded" : "failed"]++;
    }
  };

  let after = lowestIdAt(services.clock.now());
  const page = last > 0 ? await listDeliveriesPage(services.db, trigger.id, { limit: last }) : [];
  await send(page.slice(0, last).reverse());
  while (follows && !signal?.aborted) {
    for await (const arrived of pagesNewerThan(services, trigger, after)) await send(arrived);
    const settled = lowestIdAt(new Date(services.clock.now().getTime() - lateCommitMs));
    if (settled > after) after = settled;
    for (const id of sent) if (id < after) sent.delete(id);
    await pause(pollMs, undefined, { signal }).catch(() => {});
  }
  return counts;
}

async function* pagesNewerThan({ db }: Services, { id }: Trigger, after: string) {
  for (let newerThan: string | undefined = after; newerThan; ) {
    const page = (await listDeliveriesPage(db, id, { limit: pageSize, newerThan })).reverse();
    yield page;
    newerThan = page.length > pageSize ? page.at(-1)?.id : undefined;
  }
}

function requireHttp(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Refusal(422, `"${url}" is not an address: give one that starts with http:// or https://`);
}

/** @returns true if it was answered with success */
async function forward(
  services: Services,
  { trigger, url, signal, report }: Forwarding,
  delivery: Delivery,
): Promise<boolean> {
  const payload = await findPayload(services.db, delivery.id);
  const begun = performance.now();
  const outcome = payload ? await post(services, { trigger, url, signal, payload }) : { error: "evicted" };
  const ms = Math.round(performance.now() - begun);
  report(`${toPrintableJson({ delivery: delivery.id, event: delivery.event, ...outcome, ms })}\n`);
  return "status" in outcome && outcome.status < 400;
}

async function post(
  { cipher, clock, config }: Services,
  {
    trigger,
    url,
    signal,
    payload: { headers: stored, body },
  }: Pick<Forwarding, "trigger" | "url" | "signal"> & { payload: Payload },
): Promise<{ status: number } | { error: string }> {
  const secret = secretOf(cipher, trigger);
  const headers = new Headers();
  for (const [name, value] of stored) if (value !== null && !omitted.test(name)) headers.append(name, value);
  const type = typeOfTrigger(config.issueTracker, trigger);
  const arrived = new Map(stored.map(([name, value]) => [name.toLowerCase(), value]));
  const signed = signatureHeaders(type, secret, { body, now: clock.now() }, arrived);
  for (const [name, value] of Object.entries(signed)) {
    try {
      headers.set(name, value);
    } catch {
      return { error: `The secret cannot be sent as ${name}` }; // the message of the error has it
    }
  }

  const deadline = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const init = {
      method: "POST",
      headers,
      body: new Uint8Array(body),
      redirect: "manual",
      signal: either,
    } as const;
    const answer = await fetch(url, init);
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message: string } };
    return { error: cause?.code ?? cause?.message ?? message };
  }
}
