import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { formatNumber, formatTable } from "../scratch/figures.ts";

/** A number is a figure; null is one that was not measured. A figure with its aim is text. */
export type Cell = number | string | null;

export interface Table {
  /** The first is the heading of the row titles. */
  columns: string[];
  rows: Cell[][];
}

/** Everything that a run says. The file has no date: git knows it. */
export interface Result {
  name: string;
  command: string;
  machine: string[];
  tables: Table[];
  legend: string[];
  /** The load by others, with a warning if it was too high. */
  others: string;
}

const publishedFolder = join(import.meta.dirname, "results");
/** The page whose blocks show published results. */
export const pageFile = join(import.meta.dirname, "README.md");

/** Writes one row a line, so that a change shows as such. */
export function writeResult(folder: string, { tables, ...rest }: Result): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${rest.name}.json`);
  const lines = (values: unknown[]) => values.map((value) => `\n  ${JSON.stringify(value)}`).join(",");
  const members = Object.entries(rest).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
  const written = tables.map(
    ({ columns, rows }) => `{"columns": ${JSON.stringify(columns)}, "rows": [${lines(rows)}]}`,
  );
  writeFileSync(file, `{\n${members.join(",\n")},\n"tables": [${written.join(",\n")}]\n}\n`);
  return file;
}

/** @throws Error if there is none of this name */
export function readResult(name: string, folder = publishedFolder): Result {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
}

export function listResults(): string[] {
  const files = readdirSync(publishedFolder).filter((file) => file.endsWith(".json"));
  return files.map((file) => basename(file, ".json")).sort();
}

export function renderResult({ command, machine, tables, legend, others }: Result): string {
  const parts = [command, machine.join("\n"), ...tables.map(renderTable), [...legend, others].join("\n")];
  return `${parts
    .map((part) => part.trimEnd())
    .filter(Boolean)
    .join("\n\n")}\n`;
}

function renderTable({ columns, rows }: Table): string {
  const render = (cell: Cell) => (typeof cell === "string" ? cell : formatNumber(cell ?? Number.NaN));
  return formatTable([columns, ...rows.map((row) => row.map(render))]);
}

const block = /(<!-- result (\S+) \/([^\n]+)\/ -->\n).*?(<!-- end -->)/gs;

/** Fills the blocks of a page: `<!-- result <name> /<titles of rows>/ -->` to `<!-- end -->`. */
export function fillBlocks(page: string): string {
  return page.replace(block, (_, start: string, name: string, titles: string, end: string) => {
    const isShown = ([title]: Cell[]) => new RegExp(titles).test(String(title));
    const shown = readResult(name).tables.map((table) => ({ ...table, rows: table.rows.filter(isShown) }));
    const rendered = shown.filter(({ rows }) => rows.length > 0).map(renderTable);
    return `${start}\`\`\`\n${rendered.join("\n\n")}\n\`\`\`\n${end}`;
  });
}
