import type { Crumb } from "./page-context.ts";

/** Links to the pages above this one, from the outermost. */
export function Trail({ crumbs }: { crumbs: Crumb[] }) {
  if (crumbs.length === 0) return null;
  return (
    <nav class="trail" aria-label="Breadcrumbs">
      <ol>
        {crumbs.map(({ text, path }) => (
          <li key={path}>
            <a href={path}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** `Filter · GitHub push · Web · Acme`: the innermost comes first, because tabs cut off the end. */
export function titleInFull(title: string, crumbs: Crumb[], owner: string): string {
  const above = crumbs.filter(({ isList }) => !isList).map(({ text }) => text);
  return [title, ...above.reverse(), owner].join(" · ");
}
