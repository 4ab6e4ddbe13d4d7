import MarkdownIt from "markdown-it";
import sanitizeHtml from "sanitize-html";
import { allowedAttributes, allowedClasses, allowedTags } from "./allowed.ts";
import { maxHtmlLength, maxTokens } from "./limit.ts";
import { renderAsText } from "./render-as-text.ts";
import { replaceTags } from "./tags.ts";
import { renderTerminal } from "./terminal.ts";

/** Deeper elements are left out. Browsers stop at 512. */
const maxDepth = 100;

const markdown = new MarkdownIt({ html: true, linkify: true });
let tokensLeft = 0;
countTokens();
// Names of files would become links: README.md is a host.
markdown.linkify.set({ fuzzyLink: false });
markdown.core.ruler.push("align", alignByClass);
showTerminals();

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
 * Tokens are counted as the parsers make them: a small body can ask for more of them than there is memory.
 * Blocks the event loop: processes that serve others use `renderOffLoop`.
 */
export function renderMarkdown(body: string): string {
  try {
    const html = replacePictures(sanitizeHtml(renderUnsafe(body), sanitizing));
    return html.length > maxHtmlLength(body) ? renderAsText(body) : html;
  } catch (error) {
    if (error instanceof RangeError) return renderAsText(body);
    throw error;
  }
}

/** @throws RangeError if it would be too much */
function renderUnsafe(body: string): string {
  tokensLeft = maxTokens(body);
  const environment = {};
  const parsed = markdown.parse(body, environment);
  if (lengthOf(parsed) > maxHtmlLength(body)) throw new RangeError("The HTML is too long.");
  const html = markdown.renderer.render(parsed, markdown.options, environment);
  tokensLeft = maxTokens(body);
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at + 1)) countToken();
  return html;
}

/** At most the characters of the HTML. Looked at before it is made. */
function lengthOf(parsed: MarkdownToken[]): number {
  let length = 0;
  for (const { content, attrs, children } of parsed) {
    length += children ? lengthOf(children) : content.length;
    for (const [, value] of attrs ?? []) length += String(value).length;
  }
  return length;
}

function countToken(): void {
  tokensLeft--;
  if (tokensLeft < 0) throw new RangeError("The body has too many tokens.");
}

function countTokens(): void {
  const { block, inline } = markdown;
  block.State = class extends block.State {
    override push(...token: Parameters<InstanceType<typeof block.State>["push"]>) {
      countToken();
      return super.push(...token);
    }
  };
  inline.State = class extends inline.State {
    override push(...token: Parameters<InstanceType<typeof inline.State>["push"]>) {
      countToken();
      return super.push(...token);
    }
  };
}

/** Code that is fenced as `term` or `terminal` is the output of a terminal. */
function showTerminals(): void {
  const { rules } = markdown.renderer;
  const renderFence = rules.fence;
  rules.fence = (tokens, index, ...rest) => {
    const { info = "", content = "" } = tokens[index] ?? {};
    if (/^term(inal)?(\s|$)/.test(info.trim()))
      return `<pre><code>${renderTerminal(content, countToken)}</code></pre>\n`;
    return renderFence?.(tokens, index, ...rest) ?? "";
  };
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
