import { globSync, readFileSync } from "node:fs";
import { type AnyMembers, listMembers } from "./member.ts";

const mark = /<!-- (\w+) of (shared\/\S+\.ts) -->\n.*?<!-- end of members -->/gs;

/** The declarations whose tables a page has. A comment names each: `<!-- queueMembers of shared/queues/members.ts -->`. */
export function listTables(page: string): { name: string; file: string; text: string }[] {
  return [...page.matchAll(mark)].map(([text, name = "", file = ""]) => ({ name, file, text }));
}

/** The pages of the wire contract that have such tables. */
export function listPages(): string[] {
  return globSync("ingress/**/*.md").filter((page) => listTables(readFileSync(page, "utf8")).length > 0);
}

/** Replaces the tables of members in a page. */
export async function withMembers(page: string): Promise<string> {
  let changed = page;
  for (const { name, file, text } of listTables(page)) {
    const { [name]: members } = (await import(`../../${file}`)) as Record<string, AnyMembers>;
    if (!members) throw new Error(`${file} has no ${name}.`);
    const table = `<!-- ${name} of ${file} -->\n\n${renderTable(members)}\n\n<!-- end of members -->`;
    changed = changed.replace(text, () => table);
  }
  return changed;
}

function renderTable(members: AnyMembers): string {
  const rows = listMembers(members).flatMap(({ name, rule }) =>
    rule === null ? [] : [`| \`${name}\` | ${rule} |`],
  );
  return ["| Member | Rule |", "|---|---|", ...rows].join("\n");
}
