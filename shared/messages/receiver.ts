import { createHash } from "node:crypto";

/** The receiver of messages to an address that may be secret, or is personal: rows and logs name its hash. */
export function receiverOfAddress(
  beginning: "mail" | "notify" | `service:${string}`,
  address: string,
): string {
  return `${beginning}:${createHash("sha256").update(address).digest("hex").slice(0, 40)}`;
}
