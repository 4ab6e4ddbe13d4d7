import type { ComponentChildren } from "preact";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { DeliveryRefusal } from "../../../shared/triggers/deliveries/refusals.ts";
import { type FilterOutcome, maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import { testFilterOnExample } from "../../../shared/triggers/filter/filter-tests.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import { problemsOf } from "../../../shared/validation.ts";
import type { StoredHeader } from "../../../shared/vocabulary.ts";
import { setHeaders } from "../../http/respond.ts";
import { codeField, conditionField, PostForm, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import type { FormProblems } from "../ui/problems.ts";
import { Outcome } from "./filter-trial.tsx";

interface Draft {
  expression: string;
  /** Lines of `Name: value`. */
  headers: string;
  payload: string;
}

interface Tried {
  outcome?: FilterOutcome;
  problems?: FormProblems;
  /** Default: 422 with problems. */
  status?: number;
}

/** GET /organizations/:org/try-filter?expression=…&headers=…&payload=…: examples of the guides open the form with these. */
export const tryFilterPage = memberPage((_, request) =>
  show(request, readDraft(request.event.url.searchParams), {}),
);

/** POST … {expression, headers, payload} */
export const tryFilterForm = memberAction(async (services, request, form) => {
  const draft = readDraft(form);
  return show(request, draft, await tryDraft(services, request, draft));
});

function readDraft(given: URLSearchParams): Draft {
  const [expression, headers, payload] = ["expression", "headers", "payload"].map((name) => given.get(name));
  return { expression: (expression ?? "").trim(), headers: headers ?? "", payload: payload ?? "" };
}

async function tryDraft(
  services: Services,
  { event, organization }: MemberRequest,
  { expression, headers: lines, payload }: Draft,
): Promise<Tried> {
  const { headers, problems } = readHeaders(lines);
  problems.push(...problemsOf(triggerMembers.filter.create, expression, "expression"));
  if (problems.length > 0) return { problems };
  try {
    const test = { organizationId: organization.id, expression, headers, payload };
    return { outcome: await testFilterOnExample(services, test, event.req.signal) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    const { status, headers, message } = error;
    setHeaders(event, headers);
    const field = error instanceof DeliveryRefusal ? "payload" : "";
    return { status, problems: [{ field, message }] };
  }
}

function readHeaders(lines: string): {
  headers: StoredHeader[];
  problems: { field: string; message: string }[];
} {
  const headers: StoredHeader[] = [];
  for (const [index, line] of lines.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const [, name, value = ""] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    if (name === undefined) {
      const message = `Line ${index + 1} of the headers has no : after a name`;
      return { headers, problems: [{ field: "headers", message }] };
    }
    headers.push([name, value.trim()]);
  }
  return { headers, problems: [] };
}

function show({ organization, event }: MemberRequest, draft: Draft, tried: Tried): PageContent {
  const { problems, outcome, status = problems ? 422 : 200 } = tried;
  const given = { draft, problems };
  const parameters = { org: organization.slug };
  const pipelines = pathTo(patterns.pipelinesPage, parameters);
  addCrumbs(event, { text: "Pipelines", path: pipelines, isList: true });
  return narrowPage({
    title: "Try a filter",
    status,
    section: "pipelines",
    content: (
      <>
        <p>
          Nothing is stored, and nothing builds. To use the expression, give it to a trigger of one of your{" "}
          <a href={pipelines}>pipelines</a>.
        </p>
        {!organization.features.includes("webhook_filtering") && (
          <p class="warning">
            Triggers of this organization cannot have filters: an admin can switch them on in its settings.
          </p>
        )}
        <PostForm path={pathTo(patterns.tryFilterPage, parameters)} problems={problems} button="Try">
          {outcome && <Outcome outcome={outcome} isShown={() => true} />}
          <Code
            label="Expression"
            name="expression"
            maxLength={maxExpressionBytes}
            {...given}
            {...conditionField}
            hint={
              <>
                <abbr title="Common Expression Language">CEL</abbr>, {maxExpressionBytes} bytes at most.{" "}
                <a href={`${pathTo(patterns.guide, { page: "webhooks" })}#examples`}>Examples</a>
              </>
            }
          />
          <Code
            label="Headers"
            name="headers"
            rows={2}
            {...given}
            hint="A name, a colon and a value on each line."
          />
          <Code label="Payload" name="payload" rows={14} {...given} hint="Any JSON." />
        </PostForm>
      </>
    ),
  });
}

function Code({
  draft,
  ...field
}: {
  label: string;
  name: keyof Draft;
  draft: Draft;
  problems: FormProblems | undefined;
  hint: ComponentChildren;
  rows?: number;
  maxLength?: number;
  class?: string;
}) {
  return <TextArea {...codeField} {...field} value={draft[field.name]} />;
}
