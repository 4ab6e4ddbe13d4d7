import { OutgoingProblem } from "../outgoing/problem.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import { Refusal, tooMany, unavailable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { shares } from "../sharing/bounds.ts";
import { Shares } from "../sharing/shares.ts";
import { hostOf } from "../sources/providers.ts";
import { type Target, targetOf } from "./calls.ts";
import { hooksPerPage, type PresentHook, type WantedHook } from "./hosts/api.ts";
import { findConnectionOfHost } from "./store.ts";
import { type ConnectionType, connectionFacts } from "./types.ts";

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
  const rights = `The token needs, besides others: ${connectionFacts[found.type].rights.webhooks}`;
  await inShare(repository.organizationId, () => makeAt(found.target, hook, rights));
}

/** Says why no webhook can be made for a repository. Undefined: it can be tried. */
export async function findHookProblem(
  services: Services,
  repository: OwnedRepository,
): Promise<string | undefined> {
  const found = await findTarget(services, repository);
  return "reason" in found ? found.reason : undefined;
}

/** A repository of a pipeline. */
interface OwnedRepository {
  organizationId: string;
  /** Its address. */
  repository: string | null;
}

async function findTarget(
  services: Services,
  { organizationId, repository }: OwnedRepository,
): Promise<{ target: Target; type: ConnectionType } | { reason: string }> {
  const host = repository === null ? undefined : hostOf(repository);
  if (repository === null || !host) return { reason: "The pipeline has no repository at a host" };
  const connection = await findConnectionOfHost(services.db, organizationId, host);
  if (!connection || connection.tokenSealed === null)
    return { reason: `There is no repository connection with a token for ${host}` };
  const target = targetOf(services, connection, repository);
  if (!target) return { reason: `The address names no repository of ${host}` };
  return { target, type: connection.type as ConnectionType };
}

async function makeAt(target: Target, hook: WantedHook, rights: string): Promise<void> {
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
  { api, repository, send }: Target,
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
