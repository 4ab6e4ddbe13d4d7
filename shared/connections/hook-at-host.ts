import { OutgoingProblem } from "../outgoing/problem.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import { Refusal, tooMany, unavailable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { shares } from "../sharing/bounds.ts";
import { Shares } from "../sharing/shares.ts";
import { findTarget, type OwnedRepository, type Target } from "./calls.ts";
import { type HostRequest, hooksPerPage, type PresentHook, type WantedHook } from "./hosts/api.ts";
import { connectionFacts } from "./types.ts";

const maxPages = 10;
const talks = new Shares(shares.talksToHosts);

/**
 * Makes a webhook at the host of a repository, by the token of its connection. One with the same address is changed.
 * @throws Refusal 422 with the documented messages, and the cause as `reason`; 429, 503
 */
export async function makeHook(
  services: Services,
  repository: OwnedRepository,
  hook: WantedHook,
): Promise<void> {
  const found = await findTarget(services, repository);
  if ("reason" in found) throw notSupported(found.reason);
  const { target } = found;
  const rights = `The token needs, besides others: ${connectionFacts[target.type].rights.webhooks}`;
  const send: Send = (request) => services.outgoing.send(target.requestOf(request));
  await inShare(repository.organizationId, () => makeAt({ ...target, send }, hook, rights));
}

/** Says why no webhook can be made for a repository. Undefined: it can be tried. */
export async function findHookProblem(
  services: Services,
  repository: OwnedRepository,
): Promise<string | undefined> {
  const found = await findTarget(services, repository);
  return "reason" in found ? found.reason : undefined;
}

type Send = (request: HostRequest) => Promise<OutgoingAnswer>;
type CalledTarget = Target & { send: Send };

async function makeAt(target: CalledTarget, hook: WantedHook, rights: string): Promise<void> {
  const { api, repository, send } = target;
  try {
    const present = await findHook(target, hook.url, rights);
    const request = present ? api.updateHook(repository, present.id, hook) : api.createHook(repository, hook);
    requireSuccess(await send(request), rights);
  } catch (error) {
    if (error instanceof OutgoingProblem) throw notCreated(error.message);
    throw error;
  }
}

async function findHook(
  { api, repository, send }: CalledTarget,
  url: string,
  rights: string,
): Promise<PresentHook | undefined> {
  for (let page = 1; page <= maxPages; page++) {
    const answer = await send(api.listHooks(repository, page));
    requireSuccess(answer, rights);
    const hooks = readHooks(api, answer);
    const found = hooks.find((each) => each.url === url);
    if (found || hooks.length < hooksPerPage) return found;
  }
  return undefined;
}

function readHooks(api: Target["api"], { text }: OutgoingAnswer): PresentHook[] {
  try {
    return api.readHooks(JSON.parse(text));
  } catch {
    throw notCreated("The host answered what is no list of webhooks. Is the address of its API right?");
  }
}

/** The answer's text is left out: hosts repeat what they were sent. */
function requireSuccess({ status }: OutgoingAnswer, rights: string): void {
  if (status >= 200 && status < 300) return;
  const isRefused = [401, 403, 404].includes(status);
  throw notCreated(`The host answered ${status}${isRefused ? `. ${rights}` : ""}`);
}

async function inShare<Result>(organization: string, run: () => Promise<Result>): Promise<Result> {
  const slot = talks.take({ organization });
  if (slot === "owner")
    throw tooMany("The organization waits for too many answers of hosts. Please try again later.");
  if (slot === "all") throw unavailable();
  try {
    return await run();
  } finally {
    talks.release(slot);
  }
}

export function notSupported(reason: string): Refusal {
  return new Refusal(422, "Auto-creating webhooks is not supported for your repository.", {
    details: { reason },
  });
}

function notCreated(reason: string): Refusal {
  return new Refusal(422, "Webhooks could not be created for your repository.", { details: { reason } });
}
