import { hash } from "node:crypto";

// A page that refreshes itself names the parts that it has, and gets only the others. Elements whose first attribute is
// `data-part` are parts. They do not nest, but elements with `data-blocks` may have some.

/** The request header that names the parts of a page. */
export const partsHeader = "signalbox-parts";
const hashLength = 8;
/**
 * Changes with every answer, or with the clock: `times.js` keeps durations and bars of what runs up to date. An
 * expression that looks behind each character would take thirty times as long.
 */
const volatile = [
  / data-seconds="\d+"( width="[\d.]+%")?/g,
  /<span class="growing">[^<]*/g,
  / name="csrf_token" value="[^"]*/g,
];

/** Gives each part of a page its hash. Those that the browser has are left out: `live.js` puts them back. */
export function markParts(page: string, known: string | null): string {
  const present = new Set(known?.split(" "));
  const opening = /<(\w+) data-part(?=[ >])/g;
  let marked = "";
  let at = 0;
  let same: string[] = [];
  let sameTag = "";
  const flush = () => {
    if (same.length > 0) marked += `<${sameTag} data-same="${same.join(" ")}"></${sameTag}>`;
    same = [];
  };
  for (let found = opening.exec(page); found; found = opening.exec(page)) {
    const [start, tag = ""] = found;
    const end = endOfElement(page, tag, opening.lastIndex);
    const rest = page.slice(opening.lastIndex, end);
    const name = nameOf(start + rest);
    if (found.index > at || tag !== sameTag) flush();
    marked += page.slice(at, found.index);
    sameTag = tag;
    if (present.has(name)) same.push(name);
    else {
      flush();
      marked += `${start}="${name}"${rest}`;
    }
    opening.lastIndex = at = end;
  }
  flush();
  return marked + page.slice(at);
}

/** Rendered markup has every end tag, and no `<` in texts and attributes. */
function endOfElement(page: string, tag: string, from: number): number {
  const tags = new RegExp(`<(/?)${tag}\\b[^<]*?>`, "g");
  tags.lastIndex = from;
  let depth = 1;
  while (depth > 0) {
    const found = tags.exec(page);
    if (!found) throw new Error(`The part ${tag} has no end`);
    depth += found[1] === "/" ? -1 : 1;
  }
  return tags.lastIndex;
}

function nameOf(part: string): string {
  const lasting = volatile.reduce((text, each) => text.replace(each, ""), part);
  return hash("sha256", lasting, "base64url").slice(0, hashLength);
}
