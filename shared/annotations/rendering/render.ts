import MarkdownIt from "markdown-it";
import sanitizeHtml from "sanitize-html";
import { allowedAttributes, allowedClasses, allowedTags } from "./allowed.ts";
import { renderAsText } from "./render-as-text.ts";
import { replaceTags } from "./tags.ts";

/** Larger HTML is shown as text: a megabyte of Markdown can become ten of HTML. */
const maxHtmlLength = 3 * 1024 * 1024;
/** Deeper elements are left out. Browsers stop at 512. */
const maxDepth = 100;

const markdown = new MarkdownIt({ html: true, linkify: true });
// Names of files would become links: README.md is a host.
markdown.linkify.set({ fuzzyLink: false });
markdown.core.ruler.push("align", alignByClass);

const sanitizing: sanitizeHtml.IOptions = {
  allowedTags,
  allowedAttributes,
  allowedClasses: { "*": allowedClasses },
  allowedSchemes: ["http", "https", "mailto", "artifact"],
  allowProtocolRelative: false,
  nestingLimit: maxDepth,
};

/**
 * Renders Markdown with HTML as HTML that is safe in a page: elements, attributes and classes of a list, no address of
 * another scheme, and no picture from elsewhere, which would tell strangers who looks. Artifacts stay `artifact://…`.
 * Blocks the event loop: processes that serve others use `renderOffLoop`.
 */
export function renderMarkdown(body: string): string {
  const html = replacePictures(sanitizeHtml(markdown.render(body), sanitizing));
  return html.length > maxHtmlLength ? renderAsText(body) : html;
}

/** Tables have the alignment of their columns as inline styles. */
function alignByClass({ tokens }: { tokens: MarkdownToken[] }): void {
  for (const token of tokens) {
    const [, side] = /^text-align:(left|center|right)$/.exec(String(token.attrGet("style"))) ?? [];
    if (side) token.attrs = [["class", side === "center" ? side : `${side}-align`]];
  }
}

type MarkdownToken = ReturnType<typeof markdown.parse>[number];

/** Pictures of artifacts stay. Others become links, or only their text: inside of a link, or without an address. */
function replacePictures(html: string): string {
  let isInLink = false;
  return replaceTags(html, (tag) => {
    if (tag.name === "a") {
      isInLink = !tag.isEnd;
      return tag.isEnd ? undefined : tag.write({ ...tag.attributes, rel: "nofollow noopener noreferrer" });
    }
    const { src = "", alt = "" } = tag.attributes;
    if (src.startsWith("artifact://")) return undefined;
    if (isInLink || !/^https?:/i.test(src)) return alt;
    return `<a href="${src}" rel="nofollow noopener noreferrer">${alt || src}</a>`;
  });
}
