import { setPriority } from "node:os";
import { type AttackName, attacks } from "./attacks.ts";
import type { Tenant } from "./tenants.ts";

export type Order = { start: AttackName; attacker: Tenant } | "stop";
/** "begun", then the attacker's answers by kind once it has stopped. */
export type Report = "begun" | { answers: Record<string, number> } | { error: string };

// The attacker is another machine: its work must not take the server's cores.
setPriority(10);

let stop = new AbortController();

process.on("message", async (order: Order) => {
  if (order === "stop") {
    stop.abort();
    return;
  }
  stop = new AbortController();
  const answers: Record<string, number> = {};
  const count = (kind: string | number) => {
    answers[kind] = (answers[kind] ?? 0) + 1;
  };
  try {
    const begin = () => report("begun");
    await attacks[order.start]({ attacker: order.attacker, begin, count, signal: stop.signal });
    report({ answers });
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit());

function report(message: Report): void {
  process.send?.(message);
}
