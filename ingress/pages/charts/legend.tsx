import type { Series } from "./bars.ts";

/** Names the series and their colors. @param inWords describes a series */
export function Legend({
  title,
  series,
  inWords,
}: {
  title?: string;
  series: Series[];
  inWords: (series: Series) => string;
}) {
  return (
    <figcaption>
      {title && <strong>{title}</strong>}
      {series.map((each) => (
        <span key={each.kind}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={each.kind} width="10" height="10" rx="2" />
          </svg>{" "}
          {inWords(each)}
        </span>
      ))}
      <span>times in UTC, counts up to a minute old</span>
    </figcaption>
  );
}
