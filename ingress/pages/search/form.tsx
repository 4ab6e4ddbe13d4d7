import { addressOf, maxSearchLength } from "./read.ts";

/** A field of a search; with options, a choice. */
export interface SearchField {
  name: string;
  label: string;
  /** Default: text. */
  type?: "text" | "date";
  options?: readonly (readonly [value: string, text: string])[];
}

interface Search {
  search: Record<string, string>;
  path: string;
}

/** A number that is not counted further. */
const maxShownCount = 99;

/**
 * A link for each value of one filter. The other filters stay.
 * @param counts by value; those that are missing are not shown
 */
export function Chips({
  name,
  label,
  values,
  counts = new Map(),
  search,
  path,
}: Search & { name: string; label: string; values: readonly string[]; counts?: Map<string, number> }) {
  return (
    <nav class="chips" aria-label={label}>
      {["", ...values].map((value) => {
        const count = counts.get(value);
        return (
          <a
            key={value}
            href={addressOf(path, { ...search, [name]: value })}
            aria-current={value === search[name] ? "page" : undefined}
          >
            {value === "" ? "All" : value}
            {count !== undefined && (
              <span class="count"> {count > maxShownCount ? `${maxShownCount}+` : count}</span>
            )}
          </a>
        );
      })}
    </nav>
  );
}

/** A form whose address can be shared. @param kept filters that have no field */
export function SearchForm({
  fields,
  kept = [],
  search,
  path,
}: Search & { fields: readonly SearchField[]; kept?: readonly string[] }) {
  const isSearching = fields.some(({ name }) => search[name]);
  return (
    <details id="search" class="fold" open={isSearching}>
      <summary>Search</summary>
      <form class="search" action={path}>
        {kept.map((name) => search[name] && <input type="hidden" name={name} value={search[name]} />)}
        {fields.map((field) => (
          <p key={field.name} class="field">
            <label for={`search-${field.name}`}>{field.label}</label>
            <Input field={field} value={search[field.name] ?? ""} />
          </p>
        ))}
        <p class="actions">
          <button type="submit">Search</button>
          {isSearching && <a href={addressOf(path, keptOf(search, kept))}>Clear</a>}
        </p>
      </form>
    </details>
  );
}

function keptOf(search: Record<string, string>, kept: readonly string[]): Record<string, string> {
  return Object.fromEntries(kept.map((name) => [name, search[name] ?? ""]));
}

function Input({ field: { name, type, options }, value }: { field: SearchField; value: string }) {
  const id = `search-${name}`;
  if (type === "date") return <input id={id} name={name} type="date" value={value} />;
  if (!options) return <input id={id} name={name} value={value} maxLength={maxSearchLength} />;
  return (
    <select id={id} name={name}>
      <option value="">Any</option>
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  );
}
