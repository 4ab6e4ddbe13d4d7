import type { RawLine } from "./lines.ts";
import { type LogText, Row } from "./row.ts";

/** Lines that can still be redrawn: no more than these, with no more characters. */
export const screenRows = 100;
const screenCharacters = 64 * 1024;
/** Moves end here, or at the end of a longer line: few bytes must not make long lines. Agents' terminals are as wide. */
const moveColumns = 160;

interface Position {
  /** Counted from the first row of all. */
  row: number;
  column: number;
}

/** The last lines of a log as a terminal shows them: a cursor goes back and writes over them. */
export class Screen {
  /** About the length in HTML of all that is shown since the page began. */
  cost = 0;
  #rows: Row[] = [];
  #size = 0;
  #finished: Row[] = [];
  /** A row that is shown has left the screen. */
  #isShowing = false;
  /** Rows that left the screen. */
  #left = 0;
  /** One below the last row: the row is made when something is written. */
  #y = 0;
  /** Undefined: the end of the row. */
  #x: number | undefined = 0;
  #saved: Position = { row: 0, column: 0 };
  #raw: RawLine | undefined;
  #number: number | undefined;
  #time: number | undefined;

  /** The next writes belong to this line of the log. */
  beginLine(raw: RawLine, number: number | undefined): void {
    if (raw.isRemark) this.#leave(0);
    this.#raw = raw;
    this.#number = number;
    this.#time = undefined;
  }

  endLine(): void {
    const { isComplete, isCut, isRemark } = this.#raw as RawLine;
    const row = this.#row();
    this.#change(row, () => {
      row.isComplete = isComplete;
      row.isCut ||= isCut;
    });
    this.#y++;
    this.#x = 0;
    this.#leave(isRemark ? 0 : screenRows);
  }

  /** The time of a line is the first that comes in it. */
  setTime(time: number): void {
    this.#time ??= time;
  }

  write(text: LogText): void {
    const row = this.#row();
    this.#change(row, () => {
      if (this.#x === 0 && row.isEmpty) this.#x = undefined;
      if (this.#x === undefined) row.append(text);
      else this.#x = row.put(this.#x, text);
    });
  }

  /** Moves the cursor, or erases. Sequences as ECMA-48 names them. */
  control(final: string, amount: number | undefined): void {
    const count = Math.max(1, amount ?? 1);
    if (final === "A" || final === "F") this.#moveBy(-count);
    else if (final === "B" || final === "E") this.#moveBy(count);
    else if (final === "C") this.#moveTo(this.#column() + count);
    else if (final === "D") this.#moveTo(this.#column() - count);
    else if (final === "K") this.#eraseInLine(amount ?? 0);
    else if (final === "J" && !amount) this.#eraseBelow();
    if (final === "E" || final === "F") this.#x = 0;
    if (final === "G") this.#moveTo(count - 1);
  }

  return(): void {
    this.#x = 0;
  }

  save(): void {
    this.#saved = { row: this.#left + this.#y, column: this.#column() };
  }

  restore(): void {
    const y = this.#saved.row - this.#left;
    if (y < 0 || y > this.#rows.length) return;
    this.#y = y;
    this.#moveTo(this.#saved.column);
  }

  /** A page begins: the rows before it are shown only if they change. */
  beginPage(): void {
    this.#finished = [];
    this.#isShowing = false;
    this.cost = 0;
    for (const row of this.#rows) row.isShown = false;
  }

  /** Forgets what is on it. */
  clear(): void {
    this.#leave(0);
    this.#finished = [];
  }

  /** The rows that left the screen since the last time. */
  takeFinished(): Row[] {
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  /** All rows that are left. */
  takeAll(): Row[] {
    this.#leave(0);
    return this.takeFinished();
  }

  /** The cursor's row. */
  #row(): Row {
    const found = this.#rows[this.#y];
    if (found) return found;
    const made = new Row(this.#raw as RawLine, this.#number);
    this.#rows.push(made);
    return made;
  }

  #column(): number {
    this.#x ??= this.#rows[this.#y]?.columns() ?? 0;
    return this.#x;
  }

  #moveBy(rows: number): void {
    this.#column();
    this.#y = Math.min(Math.max(0, this.#y + rows), this.#rows.length);
  }

  #moveTo(column: number): void {
    if (column <= 0) this.#x = 0;
    else if (column <= moveColumns) this.#x = column;
    else this.#x = Math.min(column, Math.max(moveColumns, this.#rows[this.#y]?.columns() ?? 0));
  }

  #eraseInLine(part: number): void {
    const row = this.#rows[this.#y];
    if (!row || part > 2 || (part === 0 && this.#x === undefined)) return;
    const column = this.#column();
    this.#change(row, () => {
      if (part === 1) row.eraseTo(Math.min(column, moveColumns));
      else row.eraseFrom(part === 0 ? column : 0);
    });
  }

  #eraseBelow(): void {
    const row = this.#rows[this.#y];
    if (!row) return;
    this.#eraseInLine(0);
    for (const erased of this.#rows.splice(this.#y + 1)) this.#drop(erased);
    this.#change(row, () => {});
  }

  #drop({ size, isShown, cost }: Row): void {
    this.#size -= size;
    if (isShown) this.cost -= cost;
  }

  #change(row: Row, change: () => void): void {
    const { size, cost, isShown } = row;
    change();
    row.isShown = true;
    row.time ??= this.#time;
    row.end = (this.#raw as RawLine).end;
    this.#size += row.size - size;
    this.cost += row.cost - (isShown ? cost : 0);
  }

  /** Lets the first rows go until this many are left. A page shows all rows from the first that changed. */
  #leave(rows: number): void {
    while (this.#rows.length > rows || (this.#size > screenCharacters && this.#rows.length > 1)) {
      const row = this.#rows.shift() as Row;
      this.#size -= row.size;
      this.#left++;
      this.#y = Math.max(0, this.#y - 1);
      this.#isShowing ||= row.isShown;
      if (this.#isShowing) this.#finished.push(row);
    }
  }
}
