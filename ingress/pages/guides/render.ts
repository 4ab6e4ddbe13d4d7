import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import MarkdownIt from "markdown-it";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { type GuideName, guides } from "./list.ts";

// Pages of the tree as HTML. They are ours: they need no sanitizing, and HTML in them is shown as text.

type Tokens = ReturnType<typeof markdown.parse>;

const root = join(import.meta.dirname, "../../..");
const markdown = new MarkdownIt({ html: false });
const { fence: renderFence } = markdown.renderer.rules;
/** A link to the form that an example fills follows it. */
markdown.renderer.rules.fence = (tokens, at, ...rest) => {
  const example = renderFence?.(tokens, at, ...rest) ?? "";
  const form = formOf(tokens, at);
  if (!form) return example;
  const href = markdown.utils.escapeHtml(`${form.pattern}?${new URLSearchParams(form.fields)}`);
  return `${example}<p class="try" id="try-${at}"><a href="${href}">${form.text}</a></p>\n`;
};

/** Steps fill a new pipeline. A filter is tried on the delivery that stands above it. */
function formOf(tokens: Tokens, at: number) {
  const { info = "", content = "" } = tokens[at] ?? {};
  if (content.startsWith("steps:\n"))
    return {
      pattern: patterns.newPipelinePage,
      fields: { configuration: content },
      text: "Try it in a new pipeline",
    };
  if (info !== "cel") return undefined;
  const delivery = tokens.slice(0, at).findLast((token) => token.info === "http")?.content ?? "";
  const [headers = "", payload = ""] = delivery.split("\n\n");
  const fields = { expression: content.trim(), headers, payload };
  return { pattern: patterns.tryFilterPage, fields, text: "Try it" };
}

export interface Guide {
  html: string;
  sections: { id: string; title: string }[];
}

const made = new Map<GuideName, Guide>();

/** Made at the first request, and kept. */
export function findGuide(name: GuideName): Guide {
  const known = made.get(name);
  if (known) return known;
  const { file } = guides[name];
  const guide = renderGuide(readFileSync(join(root, file), "utf8"), file);
  made.set(name, guide);
  return guide;
}

/** Marks the generated part of a page. */
const comment = /^<!--.*-->$/gm;

/** @param file where the page is in the tree: its links begin there */
export function renderGuide(text: string, file: string): Guide {
  const tokens = markdown.parse(text.replaceAll(comment, ""), {});
  const sections: Guide["sections"] = [];
  const ids = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const inline = tokens[at + 1];
    if (token.type === "heading_open" && inline) {
      const title = (inline.children ?? []).map(({ content }) => content).join("");
      const id = freeId(anchorOf(title), ids);
      token.attrSet("id", id);
      if (token.tag === "h2") sections.push({ id, title });
    }
    // The keyboard must reach an area that scrolls.
    if (token.type === "table_open" || token.type === "fence") token.attrSet("tabindex", "0");
    rewriteLinks(token.children ?? [], file);
  }
  return { html: markdown.renderer.render(tokens, markdown.options, {}), sections };
}

/**
 * @param org whose forms the examples open
 * @param leadElsewhere the path behind an example, by its id, for a reader who has no organization
 */
export function forReader(
  { html }: Pick<Guide, "html">,
  org: string | undefined,
  leadElsewhere: (example: string) => string,
): string {
  return html.replaceAll(/(?<=<p class="try" id="([^"]*)"><a href=")[^"]*/g, (form, example: string) =>
    org === undefined
      ? markdown.utils.escapeHtml(leadElsewhere(example))
      : form.replace(patterns.organizationPage, () => pathTo(patterns.organizationPage, { org })),
  );
}

/** Links to what is no guide become plain text: the reader has no tree. */
function rewriteLinks(tokens: Tokens, file: string): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const href = hrefOf(String(token.attrGet("href") ?? ""), file);
      isDropped = href === undefined;
      if (href !== undefined) token.attrSet("href", href);
    }
    if (isDropped && token.type.startsWith("link_")) {
      const isEnd = token.type === "link_close";
      token.type = "text";
      token.content = "";
      if (isEnd) isDropped = false;
    }
  }
}

function hrefOf(href: string, file: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = "", hash] = href.split("#");
  const target = posix.join(posix.dirname(file), path);
  const found = Object.entries(guides).find(([, guide]) => guide.file === target);
  return found && pathTo(patterns.guide, { page: found[0] }) + (hash === undefined ? "" : `#${hash}`);
}

/** As source hosts make them: the links of the pages rely on it. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  for (let next = 1; taken.has(id); next++) id = `${wanted}-${next}`;
  taken.add(id);
  return id;
}
