const levels = [1, 2, 3, 4, 5, 6];
/** Below the title of the page and the heading of its annotations. */
const firstLevel = 3;

/**
 * Puts the headings of an author below those of the page: the highest that the author uses becomes the third level.
 * @param html sanitized: `<` stands only where the sanitizer wrote markup
 */
export function lowerHeadings(html: string): string {
  const highest = levels.find((level) => html.includes(`<h${level}`));
  if (highest === undefined) return html;
  return html.replace(
    /(<\/?h)([1-6])/g,
    (_, tag: string, level: string) => tag + Math.min(6, Number(level) - highest + firstLevel),
  );
}
