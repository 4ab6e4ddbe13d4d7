import { stripVTControlCharacters } from "node:util";

// A terminal obeys control characters (C0 and C1, ISO 6429), and shows text in another order after those of bidi (UAX 9).

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const controlsWithinLines = /[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu;
const printable = /^[\x20-\x7e\n]*$/;

/** Strips escape sequences, control characters and line ends: the text becomes part of a line. */
export function stripControls(text: string, replacement = ""): string {
  return printable.test(text) && !text.includes("\n")
    ? text
    : stripVTControlCharacters(text).replace(controls, replacement);
}

/** Escapes control characters as JSON does, except line feeds and tabs. JSON stays the same value. */
export function escapeControls(text: string): string {
  return printable.test(text) ? text : text.replace(controlsWithinLines, escaped);
}

/** Makes of a value what JSON.stringify does, without control characters. */
export function toPrintableJson(value: unknown, indent?: number): string {
  return escapeControls(JSON.stringify(value, null, indent));
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
