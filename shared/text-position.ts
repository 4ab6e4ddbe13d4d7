/** A place in a text that people wrote. Both count from 1, and columns count characters, not UTF-16 units. */
export interface TextPosition {
  line: number;
  column: number;
}

/** @param index in UTF-16 units */
export function positionAt(text: string, index: number): TextPosition {
  const lines = text.slice(0, index).split("\n");
  return { line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}

/** `line 2, column 3`. */
export function describePosition(text: string, index: number): string {
  const { line, column } = positionAt(text, index);
  return `line ${line}, column ${column}`;
}
