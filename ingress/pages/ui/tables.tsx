import { type ComponentChildren, Fragment } from "preact";

/**
 * Scrolls sideways on a narrow screen.
 * @param isList on a phone it does not scroll: each row has its head above its cells. There a cell whose text does not
 * say its column has that as `data-label`
 */
export function Table({
  caption,
  columns,
  isList = false,
  children,
}: {
  caption: string;
  columns: string[];
  isList?: boolean;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
    <section class={isList ? "table list" : "table"} aria-label={`Table: ${caption}`} tabIndex={0}>
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

/** @param empty says why there is no entry */
export function EntryList<Row>({
  rows,
  empty,
  children,
}: {
  rows: Row[];
  empty: ComponentChildren;
  children: (row: Row) => ComponentChildren;
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return <ul class="entries">{rows.map((row) => children(row))}</ul>;
}

/** A term of a `<dl class="facts">`. One without a value is left out. */
export function Fact({
  name,
  value,
  class: className,
}: {
  name: string;
  value: ComponentChildren;
  class?: "wide" | "agent";
}) {
  if (value === undefined || value === null || value === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class={className}>{value}</dd>
    </>
  );
}

/** Between two facts. It may end a line, and begins none. */
export const separator = "\u00a0· ";

/** `Web #12`. A name that turns the direction of text does not turn the number behind it. */
export function BuildName({ pipeline, number }: { pipeline: string; number: number }) {
  return (
    <>
      <bdi>{pipeline}</bdi> #{number}
    </>
  );
}

/** Names with commas between them. */
export function CodeList({ names }: { names: string[] }) {
  return (
    <>
      {names.map((name, index) => (
        <Fragment key={name}>
          {index > 0 && ", "}
          <code>{name}</code>
        </Fragment>
      ))}
    </>
  );
}

/** For features that may still change. */
export function PublicPreview() {
  return <span class="tag">Public preview</span>;
}
