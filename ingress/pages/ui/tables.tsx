import type { ComponentChildren } from "preact";

/** A table that scrolls sideways by itself where it is too wide for the screen. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
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
 * A state as a word in a colour of its own. What is held back by a paused queue says so beside it.
 * @param kind what the colour goes by, when that is not the word
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

/** Marks what may still change (spec §9). */
export function PublicPreview() {
  return <span class="tag">Public preview</span>;
}
