/** Takes many seconds on `slowPayload`: misses every deadline. */
export const slowFilter = "webhook.payload.s.matches('(\\\\pL|\\\\pN){900}\\\\pN')";
export const slowPayload = JSON.stringify({ s: "aé".repeat(300_000) });
