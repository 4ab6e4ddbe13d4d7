import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import type { Config } from "../../shared/process/config.ts";
import { Refusal, unavailable } from "../../shared/refusal.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import { TransferBudget } from "./transfers/budget.ts";
import type { Tenant } from "./transfers/owners.ts";
import { type RequestBody, Upload, type UploadRefusals } from "./transfers/upload.ts";

/** Reads bodies within a budget. */
export interface Bodies {
  /**
   * @param tenant the trigger that a delivery is for, or the organization of an agent
   * @throws the refusal of `tooLarge`; Refusal 408, 429, 503; ClientDisconnected
   */
  read(event: H3Event, maxBytes: number, tooLarge: () => Refusal, tenant?: Tenant): Promise<RequestBody>;
}

/** Stalled uploads of one kind leave room for the others. */
export interface AllBodies {
  deliveries: Bodies;
  rest: Bodies;
  /** Within the budget of `rest`. Agents drop for good what is answered 4xx, so they get 503. */
  agents: Bodies;
  /** Pages and OAuth. */
  forms: Bodies;
}

const retryAfterSeconds = 5;
/** Parts of `MAX_BODY_BYTES_IN_FLIGHT`. */
const parts = { deliveries: 12 / 16, rest: 3 / 16, forms: 1 / 16 };
const graceMs = 10 * secondMs;

export function openBodies(
  config: Pick<Config, "maxBodyBytesInFlight" | "minUploadBytesPerSecond">,
): AllBodies {
  const budgetOf = (part: number) =>
    new TransferBudget({
      maxBytes: config.maxBodyBytesInFlight * part,
      minBytesPerSecond: config.minUploadBytesPerSecond,
      graceMs,
    });
  const rest = budgetOf(parts.rest);
  return {
    deliveries: bodiesOf(budgetOf(parts.deliveries), {
      tooSlow: () => new DeliveryRefusal("too_slow"),
      tooMany: () => new DeliveryRefusal("too_many_uploads", { headers: retryLater }),
      overloaded,
    }),
    rest: bodiesOf(rest, { tooSlow, tooMany, overloaded }),
    agents: bodiesOf(rest, { tooSlow: overloaded, tooMany: overloaded, overloaded }),
    forms: bodiesOf(budgetOf(parts.forms), { tooSlow, tooMany, overloaded }),
  };
}

const retryLater = { "Retry-After": String(retryAfterSeconds) };
const tooSlow = () => new Refusal(408, "The request took too long to arrive");
const tooMany = () =>
  new Refusal(429, `Too many uploads at once. Please wait ${retryAfterSeconds} seconds.`, {
    headers: retryLater,
  });
const overloaded = () => unavailable(retryAfterSeconds);

function bodiesOf(budget: TransferBudget, refusals: UploadRefusals): Bodies {
  return {
    read: (event, maxBytes, tooLarge, tenant) =>
      new Promise((resolve, reject) => {
        new Upload({ event, tenant, maxBytes, tooLarge, budget, refusals, resolve, reject }).start();
      }),
  };
}
