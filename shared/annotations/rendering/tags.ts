/** A tag of sanitized HTML. */
export interface Tag {
  name: "a" | "img";
  isEnd: boolean;
  /** Escaped values by name. */
  attributes: Record<string, string>;
  /** The same tag with other attributes. */
  write(attributes: Record<string, string>): string;
}

/**
 * Replaces links and pictures of sanitized HTML. There `<` and `"` stand only where the sanitizer wrote markup: texts
 * and values have them escaped, so that a regular expression finds exactly the tags.
 * @param replace returns escaped HTML; undefined leaves the tag as it is
 */
export function replaceTags(html: string, replace: (tag: Tag) => string | undefined): string {
  return html.replace(
    /<(\/?)(a|img)((?: [^<>]*)?)>/g,
    (whole, slash: string, name: Tag["name"], rest: string) => {
      const attributes: Record<string, string> = {};
      for (const [, key = "", value = ""] of rest.matchAll(/ ([a-z]+)="([^"]*)"/g)) attributes[key] = value;
      const write = (others: Record<string, string>) =>
        `<${name}${Object.entries(others)
          .map(([key, value]) => ` ${key}="${value}"`)
          .join("")}>`;
      return replace({ name, isEnd: slash !== "", attributes, write }) ?? whole;
    },
  );
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** For texts and for values in double quotes. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

const characters = new Map(Object.entries(escapes).map(([character, escaped]) => [escaped, character]));

/** Undoes `escapeText`. */
export function unescapeText(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot);/g, (escaped) => characters.get(escaped) ?? escaped);
}
