import type { ComponentChildren } from "preact";
import type { AnyMembers } from "../../../shared/members/member.ts";
import type { Services } from "../../../shared/services/services.ts";
import { PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { FormOptions, PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { type Draft, fieldNamesOf, readDraft } from "./draft.ts";

/** A page with one form, which creates or changes a row. */
export interface FormPage<Loaded> extends Pick<PageContent, "section"> {
  members: AnyMembers;
  /** Default: only admins do it. */
  isForAll?: boolean;
  options?: FormOptions;
  title: string;
  button: string;
  /** @throws Refusal 404 */
  load(services: Services, request: MemberRequest): Promise<Loaded>;
  heading(loaded: Loaded): string;
  /** The address of the form. */
  path(request: MemberRequest, loaded: Loaded): string;
  /** Where Cancel leads. */
  back(request: MemberRequest, loaded: Loaded): string;
  draft(loaded: Loaded): Draft;
  fields(form: {
    draft: Draft;
    problems: FormProblems | undefined;
    request: MemberRequest;
    loaded: Loaded;
  }): ComponentChildren;
  /** Does it, and returns where it leads. @throws Refusal 422 */
  save(services: Services, request: MemberRequest, form: { loaded: Loaded; draft: Draft }): Promise<string>;
}

/** The page, and what takes its form. */
export function formPage<Loaded>(declared: FormPage<Loaded>) {
  const { members, title, button, section, isForAll = false, options } = declared;
  const [toPage, toAction] = isForAll ? [memberPage, memberAction] : [adminPage, adminAction];
  const fieldNames = fieldNamesOf(members);

  function show(
    request: MemberRequest,
    { loaded, draft, problems }: { loaded: Loaded; draft: Draft; problems?: FormProblems },
  ): PageContent {
    return narrowPage({
      title,
      problems,
      section,
      heading: declared.heading(loaded),
      content: (
        <PostForm
          path={declared.path(request, loaded)}
          problems={problems}
          button={button}
          back={declared.back(request, loaded)}
        >
          {declared.fields({ draft, problems, request, loaded })}
        </PostForm>
      ),
    });
  }

  return {
    GET: toPage(async (services, request) => {
      const loaded = await declared.load(services, request);
      return show(request, { loaded, draft: declared.draft(loaded) });
    }),
    POST: toAction(async (services, request, form) => {
      const loaded = await declared.load(services, request);
      const draft = readDraft(members, form);
      const outcome = await tryForm(() => declared.save(services, request, { loaded, draft }), fieldNames);
      return "problems" in outcome
        ? show(request, { loaded, draft, problems: outcome.problems })
        : outcome.done;
    }, options),
  };
}
