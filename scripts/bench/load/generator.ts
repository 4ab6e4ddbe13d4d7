import { callInTurn } from "./calls.ts";
import { sendForms } from "./forms.ts";
import type { LoadResult, Order, Report } from "./load.ts";
import { pace, paceForms } from "./pace.ts";
import { saturate } from "./saturate.ts";

/** Runs in the load generator's process. */
process.on("message", async (order: Order) => {
  try {
    report({ results: [await carryOut(order)].flat() });
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit());

function carryOut(order: Order): Promise<LoadResult | LoadResult[]> {
  if ("callInTurn" in order) return callInTurn(order.callInTurn);
  if ("saturate" in order) return saturate(order.saturate);
  if ("pace" in order) return pace(order.pace);
  return "paceForms" in order ? paceForms(order.paceForms) : sendForms(order.sendForms);
}

function report(message: Report): void {
  process.send?.(message);
}
