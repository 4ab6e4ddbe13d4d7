import type { ComponentChildren } from "preact";

/** A table that scrolls sideways on a narrow screen. */
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
 * A state as a colored word, followed by `paused` for a job or build on a paused queue.
 * @param kind class of the color, if it is not the word
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
      <span class={`state ${kind}`}>{state}</span>
      {isPaused && (
        <>
          {" "}
          <span class="state paused">paused</span>
        </>
      )}
    </>
  );
}

/** Marks a feature that may still change. */
export function PublicPreview() {
  return <span class="tag">Public preview</span>;
}
