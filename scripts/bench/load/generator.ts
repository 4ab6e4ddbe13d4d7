import type { Order, Report } from "./load.ts";
import { pace } from "./pace.ts";
import { saturate } from "./saturate.ts";

/** The process that makes load: an order comes in as a message, its result goes out as one. */
process.on("message", async (order: Order) => {
  try {
    const result = "saturate" in order ? await saturate(order.saturate) : await pace(order.pace);
    report({ result });
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit());

function report(message: Report): void {
  process.send?.(message);
}
