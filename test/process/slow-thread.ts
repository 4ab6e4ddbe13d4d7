import { setTimeout as delay } from "node:timers/promises";

await delay(200);
new BroadcastChannel("slow thread").postMessage("loaded");

export function echo(input: { body: Uint8Array }): string {
  return input.body.toString();
}
