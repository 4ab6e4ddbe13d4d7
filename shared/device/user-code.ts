import { customAlphabet } from "nanoid";

/** Consonants only: codes spell no words, and no two letters look alike (RFC 8628 §6.1). */
const alphabet = "BCDFGHJKLMNPQRSTVWXZ";
const length = 8;
const random = customAlphabet(alphabet, length);
const otherCharacters = new RegExp(`[^${alphabet}]`, "g");

/** Returns a new user code: 8 letters, 34.5 bits. */
export function newUserCode(): string {
  return random();
}

/** Normalizes a typed code, full-width letters too. Undefined if the length is wrong. */
export function readUserCode(text: string): string | undefined {
  const letters = text.slice(0, 100).normalize("NFKC").toUpperCase().replace(otherCharacters, "");
  return letters.length === length ? letters : undefined;
}

/** Formats a code for display: XXXX-XXXX. */
export function showUserCode(code: string): string {
  return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;
}
