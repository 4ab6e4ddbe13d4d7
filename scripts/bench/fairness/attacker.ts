import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { Assault } from "./assault.ts";
import { type AttackName, attacks } from "./attacks.ts";
import type { FairTenant } from "./tenants.ts";

// The attacker is another machine: its work must not take the server's cores. On Linux each thread has its own priority,
// and those of V8 have started.
const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [process.pid];
for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);

let stop = new AbortController();
let assault: Assault | undefined;
let attacking: Promise<unknown> = Promise.resolve();

/** Resolves once the attack is under way. */
export async function startAttack(name: AttackName, attacker: FairTenant): Promise<void> {
  stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  assault = new Assault(attacker, stop.signal, begun.resolve);
  attacking = attacks[name].run(assault);
  await Promise.race([begun.promise, attacking]);
}

/** @returns counts of the answers that the attacker got, by kind */
export async function stopAttack(): Promise<Record<string, number>> {
  stop.abort();
  await attacking;
  return assault?.answers ?? {};
}
