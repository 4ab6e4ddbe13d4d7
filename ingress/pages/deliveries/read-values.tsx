import type { ReadValue } from "../../../shared/triggers/filter/read-values.ts";

/** The values that an expression read. */
export function Values({ values, isShown }: { values: ReadValue[]; isShown: (member: string) => boolean }) {
  return (
    <dl class="read-values">
      {values.map(({ member, value }) => (
        <>
          <dt>
            <code>{member}</code>
          </dt>
          <dd>
            {value === undefined ? (
              <span class="quiet">is missing</span>
            ) : isShown(member) ? (
              <code>{value}</code>
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
export function isSecret(member: string, shown: Set<string>): boolean {
  const [, name] = /^webhook\.headers\b\W*HTTP_(\w+)/.exec(member) ?? [];
  if (!member.startsWith("webhook.headers")) return false;
  return name === undefined || !shown.has(name.toLowerCase().replaceAll("_", "-"));
}
