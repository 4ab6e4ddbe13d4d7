import { customAlphabet } from "nanoid";

/** Consonants only: nothing reads like a word, or like another letter (RFC 8628 §6.1). */
const alphabet = "BCDFGHJKLMNPQRSTVWXZ";
const length = 8;
const random = customAlphabet(alphabet, length);
const others = new RegExp(`[^${alphabet}]`, "g");

/** A new user code: 8 letters, 34.5 bits. */
export function newUserCode(): string {
  return random();
}

/** What a person typed, as the code that they mean; undefined when it cannot be one. */
export function readUserCode(text: string): string | undefined {
  const letters = text.slice(0, 100).toUpperCase().replace(others, "");
  return letters.length === length ? letters : undefined;
}

/** As it is shown: XXXX-XXXX. */
export function showUserCode(code: string): string {
  return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;
}
