import { Buffer } from "node:buffer";
import { maxLineBytes, type RawLine } from "./lines.ts";

export interface LogText {
  text: string;
  /** Class names, separated by spaces. */
  classes: string;
  /** An http or https address. */
  href: string | undefined;
}

type Style = Omit<LogText, "text">;

/** The cost of a line in HTML beside its texts. */
export const lineCost = 140;
const textCost = 40;
/** The most that one character costs. */
const characterCost = 5;

/** The most columns of a line. */
const maxColumns = maxLineBytes;
const blank: Style = { classes: "", href: undefined };
const tabColumns = 8;
/** Marks that stand on one character. */
const maxMarks = 8;
const mark = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

/**
 * A line of a screen. It is texts that grow at their end, as most lines of logs are, until something is written
 * elsewhere. From then on it has a cell for each column.
 */
export class Row {
  readonly start: number;
  readonly number: number | undefined;
  readonly isRemark: boolean;
  readonly arrivedAt: number | undefined;
  /** Changed since the page began. */
  isShown = false;
  end = 0;
  isComplete = true;
  isCut = false;
  time: number | undefined;
  #texts: LogText[] = [];
  #characters: string[] | undefined;
  #styles: Style[] = [];
  #textLength = 0;
  /** The cost of all that was written. */
  #cost = 0;
  #linkBytes = 0;

  constructor({ start, isRemark, arrivedAt }: RawLine, number: number | undefined) {
    this.start = start;
    this.number = number;
    this.isRemark = isRemark;
    this.arrivedAt = arrivedAt;
  }

  /** About its characters in memory. */
  get size(): number {
    return this.#characters?.length ?? this.#textLength;
  }

  /** About its length in HTML. */
  get cost(): number {
    const most = this.#characters ? this.#characters.length * (characterCost + textCost) : this.#cost;
    return lineCost + this.#linkBytes + Math.min(this.#cost, most);
  }

  /** Nothing is written yet, or all is erased. */
  get isEmpty(): boolean {
    return !this.#characters && this.#textLength === 0;
  }

  /** Writes at the end. */
  append({ text, classes, href }: LogText): void {
    const last = this.#texts.at(-1);
    const charged = href === undefined || last?.href === href ? href : this.#chargeLink(href);
    this.#cost += costOfText({ text, ...blank });
    this.#textLength += text.length;
    if (last && last.classes === classes && last.href === charged) last.text += text;
    else this.#texts.push({ text, classes, href: charged });
  }

  /** The columns from its start to its end. */
  columns(): number {
    return this.isEmpty ? 0 : this.#cells().length;
  }

  /** Writes over what is there. Returns the column after it. */
  put(from: number, { text, classes, href }: LogText): number {
    const style = { classes, href: href && this.#chargeLink(href) };
    const cells = this.#cells();
    this.#cost += costOfText({ text, ...blank });
    while (cells.length < from) this.set(cells.length, " ", blank);
    let column = from;
    for (const character of text) {
      const previous = cells[column - 1];
      if (character === "\t") {
        for (const end = nextTab(column); column < end; column++)
          if (column >= cells.length) this.set(column, " ", style);
      } else if (character > "~" && mark.test(character)) {
        if (previous && previous.length < maxMarks) cells[column - 1] = previous + character;
      } else {
        this.set(column++, character, style);
        if (character > "~" && wide.test(character)) this.set(column++, "", style);
      }
    }
    this.isCut ||= column > maxColumns;
    return Math.min(column, maxColumns);
  }

  /** Erases from a column to the end. */
  eraseFrom(column: number): void {
    if (column === 0) this.#eraseAll();
    else if (column < this.columns()) this.#cells().length = this.#styles.length = column;
  }

  /** Erases from the start to a column, which is one of the first. */
  eraseTo(column: number): void {
    const end = Math.min(column + 1, this.#cells().length);
    for (let index = 0; index < end; index++) this.set(index, " ", blank);
  }

  /** Every cell that is written goes through here. */
  set(column: number, character: string, style: Style): void {
    const cells = this.#cells();
    if (column >= maxColumns) return;
    cells[column] = character;
    this.#styles[column] = style;
  }

  /** Its texts now. */
  texts(): LogText[] {
    if (!this.#characters) return this.#texts;
    const texts: LogText[] = [];
    let end = this.#characters.length;
    while (end > 0 && this.#characters[end - 1] === " " && !this.#styles[end - 1]?.classes) end--;
    for (let column = 0; column < end; column++) {
      const text = this.#characters[column] as string;
      const { classes, href } = this.#styles[column] as Style;
      const last = texts.at(-1);
      if (last && last.classes === classes && last.href === href) last.text += text;
      else texts.push({ text, classes, href });
    }
    return texts;
  }

  #eraseAll(): void {
    this.#texts = [];
    this.#characters = undefined;
    this.#styles = [];
    this.#textLength = this.#cost = this.#linkBytes = 0;
    this.isCut = false;
  }

  /** Becomes cells, once. */
  #cells(): string[] {
    if (this.#characters) return this.#characters;
    this.#characters = [];
    const texts = this.#texts;
    this.#texts = [];
    const cost = this.#cost;
    this.#linkBytes = 0;
    let column = 0;
    for (const text of texts) column = this.put(column, text);
    this.#cost = cost;
    return this.#characters;
  }

  /** Every run that is written may become a link of its own. A line's links are not longer than a line may be. */
  #chargeLink(href: string): string | undefined {
    if (this.#linkBytes + href.length > maxLineBytes) return undefined;
    this.#linkBytes += href.length;
    return href;
  }
}

function nextTab(column: number): number {
  return column - (column % tabColumns) + tabColumns;
}

function costOfText({ text }: LogText): number {
  const escaped = text.match(/[<>&"]/g)?.length ?? 0;
  return Buffer.byteLength(text) + (characterCost - 1) * escaped + textCost;
}

/** Returns about the length of a line's texts in HTML. */
export function costOfTexts(texts: LogText[]): number {
  return texts.reduce((cost, text) => cost + costOfText(text) + (text.href?.length ?? 0), lineCost);
}
