import { readFileSync, rmSync, writeFileSync } from "node:fs";

// `npm start` tells commands on this machine its port and its public addresses, which may have a port of their own.

const file = "data/addresses.json";

/** By the names of settings. */
export type Addresses = Record<"BASE_URL" | "AUTH_URL" | "WEBHOOK_URL" | "APP_URL" | "PORT", string>;

/** @param pid of `npm start` */
export function writeAddresses(addresses: Addresses, pid: number): void {
  writeFileSync(file, `${JSON.stringify({ pid, addresses }, null, 2)}\n`);
}

export function removeAddresses(): void {
  rmSync(file, { force: true });
}

/** Returns the addresses of the `npm start` that runs in this folder. A killed one leaves its file behind. */
export function readAddresses(): Partial<Addresses> {
  try {
    const { pid, addresses } = JSON.parse(readFileSync(file, "utf8"));
    return isRunning(pid) ? addresses : {};
  } catch {
    return {};
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's
  }
}
