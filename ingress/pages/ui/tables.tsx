import type { ComponentChildren } from "preact";

/** Scrolls sideways on a narrow screen. */
export function Table({
  caption,
  columns,
  children,
}: {
  caption: string;
  columns: string[];
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
    <section class="table" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/**
 * @param kind class of the color, if not the word
 * @param isPaused a paused queue delays it
 */
export function State({
  state,
  kind = state,
  isPaused = false,
}: {
  state: string;
  kind?: string;
  isPaused?: boolean;
}) {
  return (
    <>
      <span class={`state ${kind}`}>{state.replaceAll("_", " ")}</span>
      {isPaused && (
        <>
          {" "}
          <span class="state paused">paused</span>
        </>
      )}
    </>
  );
}

/** For features that may still change. */
export function PublicPreview() {
  return <span class="tag">Public preview</span>;
}
