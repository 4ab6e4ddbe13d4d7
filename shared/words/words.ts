import type { Tables } from "../db/schema.ts";

type Build = Tables["builds"]["$inferSelect"];
export type SearchedTexts = Pick<Build, "message" | "author">;

/** Of the message, which is first its first line. */
const maxMessageWords = 12;
const maxAuthorWords = 4;
/** The rest of a message is not searched for. */
export const maxMessageCharacters = 1000;
const minWordLength = 2;
const maxWordLength = 32;
export const maxNameLength = 100;

/** Distinct words of a text in lower case, in their order. Longer words are cut. */
export function wordsOf(text: string, limit: number): string[] {
  const words = new Set<string>();
  for (const [word] of plain(text).matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (word.length >= minWordLength) words.add(cut(word, maxWordLength));
    if (words.size === limit) break;
  }
  return [...words];
}

/** The words of its message, and of its author. */
export function wordsOfBuild({ message, author }: SearchedTexts): string[] {
  const { name = "", email = "", username = "" } = author ?? {};
  const ofMessage = wordsOf(message.slice(0, maxMessageCharacters), maxMessageWords);
  const ofAuthor = wordsOf(`${name} ${username} ${email.split("@", 1)[0]}`, maxAuthorWords);
  return [...new Set([...ofMessage, ...ofAuthor])];
}

/** The form in which the name of a branch, or an id that a sender gave its delivery, is searched for. */
export function nameOf(text: string): string {
  return cut(plain(text.trim()), maxNameLength);
}

/** The end of the range of texts that begin with this one, by their bytes. */
export function endOfRange(beginning: string): string {
  return `${beginning}\u{10ffff}`;
}

function plain(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, length).join("");
}
