/** A statement of a migration. `table` is the one that it changes. */
export type Statement = { text: string } & (
  | { kind: "create table"; table: string }
  | { kind: "add column"; table: string; column: string }
  | { kind: "drop not null"; table: string; column: string }
  | { kind: "set not null"; table: string; column: string }
  | { kind: "add foreign key"; table: string; name: string; references: string }
  | { kind: "drop constraint"; table: string; name: string }
  | { kind: "create index"; table: string; name: string; isUnique: boolean }
  | { kind: "drop index"; name: string }
  | { kind: "insert"; table: string }
  | { kind: "update"; table: string }
  /** The next four write a table anew, on SQLite. */
  | { kind: "copy"; table: string; from: string }
  | { kind: "drop table"; table: string }
  | { kind: "rename table"; table: string; to: string }
  | { kind: "foreign keys on or off" }
);

export type StatementOf<Kind extends Statement["kind"]> = Statement & { kind: Kind };

type Groups = Record<string, string>;
type Rule = [RegExp, (groups: Groups) => Omit<Statement, "text">];

const name = (group: string) => `[\`"](?<${group}>\\w+)[\`"]`;
const rule = (pattern: string, read: (groups: Groups) => object): Rule => [
  new RegExp(`^${pattern}`, "s"),
  read as Rule[1],
];
const table = name("table");
const column = name("column");
const rules: Rule[] = [
  rule(`CREATE TABLE ${table}`, ({ table }) => ({ kind: "create table", table })),
  rule(`ALTER TABLE ${table} ADD (COLUMN )?${column}`, (groups) => ({ kind: "add column", ...groups })),
  rule(`ALTER TABLE ${table} ALTER COLUMN ${column} DROP NOT NULL`, (groups) => ({
    kind: "drop not null",
    ...groups,
  })),
  rule(`ALTER TABLE ${table} ALTER COLUMN ${column} SET NOT NULL`, (groups) => ({
    kind: "set not null",
    ...groups,
  })),
  rule(
    `ALTER TABLE ${table} ADD CONSTRAINT ${name("name")} FOREIGN KEY .* REFERENCES "public".${name("references")}`,
    (groups) => ({ kind: "add foreign key", ...groups }),
  ),
  rule(`ALTER TABLE ${table} DROP CONSTRAINT ${name("name")}`, (groups) => ({
    kind: "drop constraint",
    ...groups,
  })),
  rule(`ALTER TABLE ${table} RENAME TO ${name("to")}`, (groups) => ({ kind: "rename table", ...groups })),
  rule(`CREATE (?<unique>UNIQUE )?INDEX ${name("name")} ON ${table}`, ({ unique, name, table }) => ({
    ...{ kind: "create index", name, table },
    isUnique: unique !== undefined,
  })),
  rule(`DROP INDEX ${name("name")}`, ({ name }) => ({ kind: "drop index", name })),
  rule(`INSERT INTO ${table} ?\\(.*\\) SELECT .* FROM ${name("from")};?$`, (groups) => ({
    kind: "copy",
    ...groups,
  })),
  rule(`INSERT INTO ${table}`, ({ table }) => ({ kind: "insert", table })),
  rule(`UPDATE ${table}`, ({ table }) => ({ kind: "update", table })),
  rule(`DROP TABLE ${table}`, ({ table }) => ({ kind: "drop table", table })),
  rule("PRAGMA foreign_keys=", () => ({ kind: "foreign keys on or off" })),
];

/**
 * Reads a statement as drizzle-kit writes it.
 * @throws Error for one of another kind: the runner must know what it locks
 */
export function parseStatement(source: string): Statement {
  const text = source.trim();
  const withoutComments = text.replace(/^(--.*\n)+/, "");
  for (const [pattern, read] of rules) {
    const match = pattern.exec(withoutComments);
    if (match) return { text, ...read({ ...match.groups }) } as Statement;
  }
  throw new Error(`A migration has a statement of an unknown kind: ${text.slice(0, 200)}`);
}

/** The tables that these statements create. */
export function createdTables(statements: Statement[]): Set<string> {
  return new Set(statements.flatMap((each) => (each.kind === "create table" ? [each.table] : [])));
}

/** Returns the first line of a statement, for messages. */
export function shortText({ text }: Statement): string {
  const line = text.replace(/^(--.*\n)+/, "").split("\n")[0] ?? "";
  return line.length > 120 ? `${line.slice(0, 117)}…` : line;
}
