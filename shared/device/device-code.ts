import { dayMs, minuteMs } from "../durations.ts";
import type { DeviceCode } from "./store.ts";

/** RFC 8628 §3.4. */
export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** After expiry a poll still gets the state for a day. */
export const rememberedMs = dayMs;
/** After expiry an approval can still be redeemed: it may come at the last moment. */
export const redeemableMs = minuteMs;

/** The state by time, also if the row is not updated yet. */
export function stateAt(code: Pick<DeviceCode, "state" | "expiresAt">, now: Date): DeviceCode["state"] {
  const pastMs = now.getTime() - code.expiresAt.getTime();
  if (pastMs >= rememberedMs) return "used";
  if (code.state === "pending" && pastMs >= 0) return "expired";
  if (code.state === "approved" && pastMs >= redeemableMs) return "expired";
  return code.state;
}
