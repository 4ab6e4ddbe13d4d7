import { createHash } from "node:crypto";

/** The receiver of messages to an address that may be secret, or is personal: rows and logs name its hash. */
export function receiverOfAddress(kind: "mail" | "notify", address: string): string {
  return `${kind}:${createHash("sha256").update(address).digest("hex").slice(0, 40)}`;
}
