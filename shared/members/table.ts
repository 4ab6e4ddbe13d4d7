import { type AnyMembers, listMembers } from "./member.ts";

/** Replaces the tables of members in a page. A comment names the resource of each: `<!-- members of queues -->`. */
export function withMembers(page: string, resources: Record<string, AnyMembers>): string {
  return Object.entries(resources).reduce((text, [resource, members]) => {
    const [start, end] = [`<!-- members of ${resource} -->\n`, `<!-- end of members of ${resource} -->`];
    const [before, rest] = text.split(start);
    const after = rest?.split(end)[1];
    if (after === undefined) throw new Error(`The page has no table of the members of ${resource}.`);
    return `${before}${start}\n${renderTable(members)}\n\n${end}${after}`;
  }, page);
}

function renderTable(members: AnyMembers): string {
  const rows = listMembers(members).flatMap(({ name, rule }) =>
    rule === null ? [] : [`| \`${name}\` | ${rule} |`],
  );
  return ["| Member | Rule |", "|---|---|", ...rows].join("\n");
}
