import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import { codeField, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

/** The filter in the form of a trigger. */
export function FilterField({
  value,
  isKept,
  problems,
}: {
  value: string;
  isKept: boolean;
  problems: FormProblems;
}) {
  return (
    <TextArea
      label="Filter"
      api="filter.expression"
      name="filter"
      value={value}
      problems={problems}
      maxLength={maxExpressionBytes}
      rows={2}
      {...codeField}
      hint={
        isKept ? (
          "Filters are no longer available to this organization. This one still applies; it can only be removed."
        ) : (
          <>
            A <abbr title="Common Expression Language">CEL</abbr> expression: only deliveries for which it is
            true make a build. Empty: all do. For example{" "}
            <code>webhook.headers.HTTP_X_GITHUB_EVENT == "push"</code> or{" "}
            <code>webhook.payload.ref == "refs/heads/main"</code>
          </>
        )
      }
    />
  );
}
