import { AsyncLocalStorage } from "node:async_hooks";

interface Caller {
  owner: string | undefined;
}

const callers = new AsyncLocalStorage<Caller>();

/** Runs the work for an owner: what it shares deeper down takes its turns. Undefined: for nobody, until one is named. */
export function runFor<Result>(owner: string | undefined, work: () => Result): Result {
  return callers.run({ owner }, work);
}

/** Names the owner of the present request, as soon as its caller is known. */
export function nameOwner(owner: string): void {
  const caller = callers.getStore();
  if (caller) caller.owner = owner;
}

/** Undefined: the work is the program's own, or its caller is not known yet. */
export function presentOwner(): string | undefined {
  return callers.getStore()?.owner;
}

const anonymous = "network ";

/** The owner of work for a caller of whom only the network is known. */
export function ownerOfNetwork(wideNetwork: string): string {
  return anonymous + wideNetwork;
}

const atDoor = "door ";

/**
 * The owner of what comes for an organization before its sender is known: anybody may know the URL of a trigger. It has
 * turns of its own, so that it keeps nothing else of the organization waiting. To others it is the organization.
 */
export function ownerAtDoor(organizationId: string): string {
  return atDoor + organizationId;
}

/** The owner as whom others see this one. */
export function seenAs(owner: string): string {
  return owner.startsWith(atDoor) ? owner.slice(atDoor.length) : owner;
}

export function isAnonymous(owner: string): boolean {
  return owner.startsWith(anonymous);
}
