import type { ComponentChildren } from "preact";
import type { Services } from "../../../shared/services/services.ts";
import { adminAction, adminPage, type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { asSentence, type FormProblems, tryForm } from "../ui/problems.ts";

/** A page that asks before something is destroyed. */
export interface ConfirmPage<Loaded> extends Pick<PageContent, "section"> {
  /** Default: only admins do it. */
  isForAll?: boolean;
  /** @throws Refusal 404 */
  load(services: Services, request: MemberRequest): Promise<Loaded>;
  title(loaded: Loaded, request: MemberRequest): string;
  text(loaded: Loaded, request: MemberRequest): string;
  /** The name that the form asks for, so that nothing is destroyed by a slip. Default: it asks for none. */
  typedName?(loaded: Loaded): string;
  /** Default: Delete. */
  button?: string;
  /** Its own address. */
  path(request: MemberRequest, loaded: Loaded): string;
  /** Where Cancel leads. */
  back(request: MemberRequest, loaded: Loaded): string;
  /** Does it, and returns where it leads. @throws Refusal 422 */
  run(services: Services, request: MemberRequest, loaded: Loaded): Promise<string>;
  /** Says why it was refused. Default, and if undefined: the problems as a sentence. */
  explain?(
    services: Services,
    request: MemberRequest,
    loaded: Loaded,
    problems: FormProblems,
  ): ComponentChildren | Promise<ComponentChildren>;
}

/** The page, and what takes its form. */
export function confirmPage<Loaded>(declared: ConfirmPage<Loaded>) {
  const { isForAll = false, section, button = "Delete" } = declared;
  const [toPage, toAction] = isForAll ? [memberPage, memberAction] : [adminPage, adminAction];
  const show = (request: MemberRequest, loaded: Loaded, problem?: ComponentChildren) =>
    confirmation({
      title: declared.title(loaded, request),
      section,
      text: declared.text(loaded, request),
      button,
      path: declared.path(request, loaded),
      back: declared.back(request, loaded),
      typed: declared.typedName && `Type the name to confirm: ${declared.typedName(loaded)}`,
      problem,
    });
  return {
    GET: toPage(async (services, request) => show(request, await declared.load(services, request))),
    POST: toAction(async (services, request, form) => {
      const loaded = await declared.load(services, request);
      const name = declared.typedName?.(loaded);
      if (name !== undefined && form.get("typed")?.trim() !== name)
        return show(request, loaded, `Nothing was deleted. Type the name ${name} to confirm.`);
      const outcome = await tryForm(() => declared.run(services, request, loaded));
      if ("done" in outcome) return outcome.done;
      const { problems } = outcome;
      const explained = await declared.explain?.(services, request, loaded, problems);
      return show(request, loaded, explained ?? asSentence(problems));
    }),
  };
}
