import { createHmac, randomUUID } from "node:crypto";
import { isPush, type ProveTrigger } from "../installation/organization.ts";
import { between, pick } from "../random.ts";
import { bodyOf } from "./bodies.ts";
import { call, type Outcome } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { Post } from "./observed.ts";

const maxAttempts = 12;
/** With more, senders post only what the filter leaves out: agents must come to an end. */
const maxWaitingJobs = 10;

/** Posts webhooks one after the other. */
export async function sendPosts(lane: Lane): Promise<void> {
  const { observed, random, installation } = lane;
  const { triggers } = installation.organization;
  while (!lane.signal.aborted) {
    const isBusy = observed.waitingJobs > maxWaitingJobs;
    const trigger = pick(random, isBusy ? triggers.filter(mayLeaveOut) : triggers);
    const post: Post = {
      number: observed.posts.length + 1,
      trigger: trigger.name,
      builds: !mayLeaveOut(trigger) || (!isBusy && random(2) === 0),
      isForged: trigger.signature !== undefined && random(20) === 0,
      key: random(2) === 0 ? randomUUID() : undefined,
      attempts: [],
      ids: [],
    };
    observed.posts.push(post);
    await send(lane, trigger, post);
    await lane.pause(between(random, 50, 150));
  }
}

/** Some of its posts make no build. */
function mayLeaveOut(trigger: ProveTrigger): boolean {
  return trigger.name === "filtered" || isPush(trigger);
}

async function send(lane: Lane, trigger: ProveTrigger, post: Post): Promise<void> {
  const body = bodyOf(post.number, post.builds);
  const headers = {
    "Content-Type": "application/json",
    ...(trigger.event && { [trigger.event[0]]: trigger.event[1] }),
    ...signatureOf(trigger, post.isForged ? `${body} ` : body),
    ...(post.key && { "Idempotency-Key": post.key }),
  };
  const init = { name: "POST /deliver", method: "POST", body, headers };
  for (let tries = post.key ? maxAttempts : 1; tries > 0 && !lane.signal.aborted; tries--) {
    const urls = post.key ? lane.twoUrls() : [lane.url()];
    const caller = { timeline: lane.timeline, attempts: post.attempts };
    const outcomes = await Promise.all(
      urls.map((url) => call(caller, `${url}/deliver/${trigger.token}`, init)),
    );
    for (const outcome of outcomes) if (outcome.status === 201) post.ids.push(outcome.body.id);
    if (outcomes.some(isFinal)) return;
    await lane.pause(between(lane.random, 100, 1500));
  }
}

function isFinal({ status }: Outcome): boolean {
  return status !== undefined && status < 500 && status !== 408 && status !== 429;
}

function signatureOf({ signature }: ProveTrigger, body: string): Record<string, string> {
  if (!signature) return {};
  const digest = createHmac("sha256", signature.secret).update(body).digest("hex");
  return { [signature.header]: `${signature.prefix}${digest}` };
}
