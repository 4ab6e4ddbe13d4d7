import { type ScryptOptions, scryptSync } from "node:crypto";

export interface KeyToDerive {
  password: string;
  salt: Uint8Array;
  bytes: number;
  cost: Required<Pick<ScryptOptions, "N" | "r" | "p" | "maxmem">>;
}

/** Derives a key from a password with scrypt (RFC 7914). It blocks its thread for 150 to 200 ms. */
export function deriveKey({ password, salt, bytes, cost }: KeyToDerive): Uint8Array {
  return scryptSync(password.normalize("NFKC"), salt, bytes, cost);
}
