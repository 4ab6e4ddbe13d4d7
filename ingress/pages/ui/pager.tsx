import { maxCounted } from "../../../shared/db/list-page.ts";
import { type NumberedList, neighborsOf } from "../../http/number-pager.ts";

/** A number that was counted no further than `maxCounted` and one: `12`, `1,000+`. */
export function countInWords(count: number): string {
  return count > maxCounted ? `${maxCounted.toLocaleString("en")}+` : count.toLocaleString("en");
}

/**
 * For numbered lists.
 * @param props.query parameters that all pages share
 * @param props.prefix of the parameters, for a second list of a page
 */
export function NumberPager({
  list,
  path,
  query = new URLSearchParams(),
  prefix = "",
  label = "Pages",
  section,
}: {
  list: NumberedList;
  path: string;
  query?: URLSearchParams;
  prefix?: string;
  label?: string;
  /** The id of the list's section, if the page has others above. */
  section?: string;
}) {
  const { prev, next, last } = neighborsOf(list);
  if (!prev && !next) return null;
  const address = (place: Record<string, string>) => {
    const named = Object.entries(place).map(([name, value]) => [prefix + name, value]);
    return `${path}?${new URLSearchParams([...query, ...named])}${section ? `#${section}` : ""}`;
  };
  return (
    <nav class="pager" aria-label={label}>
      {prev && <a href={address({ page: String(prev) })}>Previous</a>}
      <span class="quiet">
        Page {list.page.number} of {last ?? `${maxCounted.toLocaleString("en")}+ entries`}
      </span>
      {next && <a href={address({ page: String(next.page), after: next.after })}>Next</a>}
    </nav>
  );
}

/** @param links addresses by text; undefined ones are left out */
export function CursorPager({
  label = "Pages",
  links,
}: {
  label?: string;
  links: Record<string, string | undefined>;
}) {
  const shown = Object.entries(links).filter(([, address]) => address);
  if (shown.length === 0) return null;
  return (
    <nav class="pager" aria-label={label}>
      {shown.map(([text, address]) => (
        <a key={text} href={address}>
          {text}
        </a>
      ))}
    </nav>
  );
}
