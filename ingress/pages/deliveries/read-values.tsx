import type { ReadValue } from "../../../shared/triggers/filter/read-values.ts";

/** The values that an expression read. */
export function Values({ values, isShown }: { values: ReadValue[]; isShown: (value: ReadValue) => boolean }) {
  return (
    <dl class="read-values">
      {values.map((read) => (
        <>
          <dt>
            <code>{read.member}</code>
          </dt>
          <dd>
            {read.value === undefined ? (
              <span class="quiet">is missing</span>
            ) : isShown(read) ? (
              <code>{read.value}</code>
            ) : (
              <span class="quiet">is there, but not shown</span>
            )}
          </dd>
        </>
      ))}
    </dl>
  );
}

/** Says if it is a header whose value is not shown. */
export function isSecret({ header }: ReadValue, shown: Set<string>): boolean {
  if (header === undefined) return false;
  const [, name] = /^HTTP_(\w+)$/.exec(header) ?? [];
  return name === undefined || !shown.has(name.toLowerCase().replaceAll("_", "-"));
}
