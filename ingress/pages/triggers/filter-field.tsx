import { pathTo, patterns } from "../../../shared/paths.ts";
import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import { filtersGuide } from "../address/guide.ts";
import { conditionField, TextArea } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
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
      {...conditionField}
      hint={
        isKept ? (
          "Filters are no longer available to this organization. This one still applies; it can only be removed."
        ) : (
          <>
            A <Cel /> expression: only deliveries for which it is true make a build. Empty: all do. For
            example <code>webhook.headers.HTTP_X_GITHUB_EVENT == "push"</code> or{" "}
            <code>webhook.payload.ref == "refs/heads/main"</code>
          </>
        )
      }
    />
  );
}

/** The language of filters, with its guide. */
export function Cel() {
  return (
    <a href={filtersGuide} target="_blank" rel="noopener">
      <abbr title="Common Expression Language">CEL</abbr>
    </a>
  );
}

/** The page that switches filters on. Undefined: the member may not. */
export function filterSettings({ organization, role }: MemberRequest): string | undefined {
  return role === "admin" ? pathTo(patterns.settingsPage, { org: organization.slug }) : undefined;
}

/** In its place while the organization has no filters. */
export function NoFilterField({ settings }: { settings: string | undefined }) {
  return (
    <p class="quiet">
      Filter: every delivery makes a build. Filters are off in this organization;{" "}
      {settings ? <a href={settings}>its settings switch them on</a> : "an admin can switch them on"}.
    </p>
  );
}
