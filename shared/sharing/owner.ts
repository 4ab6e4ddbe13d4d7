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

export function isAnonymous(owner: string): boolean {
  return owner.startsWith(anonymous);
}
