import { createHmac, randomUUID } from "node:crypto";
import { type ProveTrigger, triggerSecret } from "../installation/organization.ts";
import { between, pick } from "../random.ts";
import { bodyOf } from "./bodies.ts";
import { call, type Outcome } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { Post } from "./observed.ts";

const maxAttempts = 12;
/** With more, senders post only what the filter leaves out: agents must come to an end. */
const maxWaitingJobs = 20;

/** Posts webhooks one after the other. */
export async function sendPosts(lane: Lane): Promise<void> {
  const { observed, random, installation } = lane;
  while (!lane.signal.aborted) {
    const { triggers } = installation.organization;
    const isBusy = observed.waitingJobs > maxWaitingJobs;
    const trigger = isBusy
      ? (triggers.find(({ name }) => name === "filtered") ?? triggers[0])
      : pick(random, triggers);
    if (!trigger) return;
    const post: Post = {
      number: observed.posts.length + 1,
      trigger: trigger.name,
      builds: trigger.name !== "filtered" || (!isBusy && random(2) === 0),
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

async function send(lane: Lane, trigger: ProveTrigger, post: Post): Promise<void> {
  const body = bodyOf(post.number, post.builds);
  const headers = {
    "Content-Type": "application/json",
    ...signatureOf(trigger, post.isForged ? `${body} ` : body),
    ...(post.key && { "Idempotency-Key": post.key }),
  };
  const attempts = post.key ? maxAttempts : 1;
  for (let attempt = 0; attempt < attempts && !lane.signal.aborted; attempt++) {
    const caller = { timeline: lane.timeline, attempts: post.attempts };
    const init = { name: "POST /deliver", method: "POST", body, headers };
    const urls = post.key ? lane.twoUrls() : [lane.url()];
    const send = (url: string) => call(caller, `${url}/deliver/${trigger.token}`, init);
    const outcomes = await Promise.all(urls.map(send));
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
  const digest = createHmac("sha256", triggerSecret).update(body).digest("hex");
  return { [signature.header]: `${signature.prefix}${digest}` };
}
