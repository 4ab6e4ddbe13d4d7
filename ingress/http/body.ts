import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import { Refusal, retryAfter, tooMany, unavailable } from "../../shared/refusal.ts";
import type { Config } from "../../shared/settings/config.ts";
import { shares } from "../../shared/sharing/bounds.ts";
import { Shares } from "../../shared/sharing/shares.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import type { TransferRoom } from "./transfers/transfer.ts";
import { type RequestBody, type Tenant, Upload, type UploadRefusals } from "./transfers/upload.ts";

/** Reads bodies into a room. */
export interface Bodies {
  /**
   * @param tenant the organization that the body is for, and the trigger of a delivery
   * @throws the refusal of `tooLarge`; Refusal 408, 429, 503; ClientDisconnected
   */
  read(event: H3Event, maxBytes: number, tooLarge: () => Refusal, tenant?: Tenant): Promise<RequestBody>;
}

/** Stalled uploads of one kind leave room for the others. */
export interface AllBodies {
  deliveries: Bodies;
  rest: Bodies;
  /** In the room of `rest`. Agents drop for good what is answered 4xx, so they get 503. */
  agents: Bodies;
  /** Pages and OAuth. */
  forms: Bodies;
}

/** Parts of `MAX_BODY_BYTES_IN_FLIGHT`. */
const parts = { deliveries: 12 / 16, rest: 3 / 16, forms: 1 / 16 };
const graceMs = 10 * secondMs;

export function openBodies(
  config: Pick<Config, "maxBodyBytesInFlight" | "minUploadBytesPerSecond">,
): AllBodies {
  const roomOf = (part: number): TransferRoom => ({
    shares: new Shares({ ...shares.uploads, max: config.maxBodyBytesInFlight * part }),
    minBytesPerSecond: config.minUploadBytesPerSecond,
    graceMs,
  });
  const rest = roomOf(parts.rest);
  return {
    deliveries: bodiesOf(roomOf(parts.deliveries), {
      tooSlow: () => new DeliveryRefusal("too_slow"),
      tooMany: () => new DeliveryRefusal("too_many_uploads", { headers: retryAfter() }),
      overloaded,
    }),
    rest: bodiesOf(rest, { tooSlow, tooMany: tooManyUploads, overloaded }),
    agents: bodiesOf(rest, { tooSlow: overloaded, tooMany: overloaded, overloaded }),
    forms: bodiesOf(roomOf(parts.forms), { tooSlow, tooMany: tooManyUploads, overloaded }),
  };
}

const tooSlow = () => new Refusal(408, "The request took too long to arrive");
const tooManyUploads = () => tooMany("Too many uploads at once. Please wait 5 seconds.");
const overloaded = () => unavailable();

function bodiesOf(room: TransferRoom, refusals: UploadRefusals): Bodies {
  return {
    read: (event, maxBytes, tooLarge, tenant = {}) =>
      new Promise((resolve, reject) => {
        new Upload({ event, tenant, maxBytes, tooLarge, room, refusals, resolve, reject }).start();
      }),
  };
}
