import { type NumberPage, neighborsOf } from "../../http/number-pager.ts";

/** For counted lists. */
export function NumberPager({ page, total, path }: { page: NumberPage; total: number; path: string }) {
  const { prev, next, last } = neighborsOf(page, total);
  if (last === 1) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {prev && <a href={`${path}?page=${prev}`}>Previous</a>}
      <span class="quiet">
        Page {page.number} of {last}
      </span>
      {next && <a href={`${path}?page=${next}`}>Next</a>}
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
