import type { ComponentChildren } from "preact";
import { CsrfField, Field, FormError, LinkButton, PostButton } from "./form.tsx";
import type { PageContent } from "./page.ts";
import type { FormProblems } from "./problems.ts";

/**
 * A narrow page: one form, or a few sentences.
 * @param given.heading default: the title
 * @param given.problems of a refused form: the status is 422
 */
export function narrowPage(
  given: {
    heading?: ComponentChildren;
    problems?: FormProblems | undefined;
    content: ComponentChildren;
  } & Pick<PageContent, "title" | "section" | "script" | "status">,
): PageContent {
  const { heading = given.title, problems, content, ...rest } = given;
  return {
    ...(problems && { status: 422 }),
    ...rest,
    content: (
      <div class="narrow">
        <h1>{heading}</h1>
        {content}
      </div>
    ),
  };
}

/**
 * Asks before an action that destroys something.
 * @param question.id of the row that it creates, if any
 * @param question.typed the label of a field `typed`, into which one writes what is destroyed
 */
export function confirmation({
  text,
  button,
  path,
  back,
  id,
  typed,
  problem,
  ...page
}: Record<"title" | "text" | "button" | "path" | "back", string> & {
  id?: string;
  typed?: string | undefined;
  problem?: ComponentChildren;
} & Pick<PageContent, "section">): PageContent {
  return narrowPage({
    ...page,
    status: problem ? 422 : 200,
    script: "once.js",
    content: (
      <>
        {problem && <FormError>{problem}</FormError>}
        <p>{text}</p>
        {typed ? (
          <form method="post" action={path}>
            <CsrfField />
            <Field label={typed} name="typed" required autocomplete="off" spellcheck={false} />
            <p class="actions">
              <button type="submit" class="danger solid">
                {button}
              </button>
              <LinkButton kind="secondary" href={back} text="Cancel" />
            </p>
          </form>
        ) : (
          <div class="actions">
            <PostButton path={path} fields={id ? { id } : {}} class="danger solid">
              {button}
            </PostButton>
            <LinkButton kind="secondary" href={back} text="Cancel" />
          </div>
        )}
      </>
    ),
  });
}
