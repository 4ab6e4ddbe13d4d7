import type { ComponentChildren } from "preact";
import type { Visitor } from "../../auth/session.ts";
import { FormError, PostButton } from "./form.tsx";
import type { PageContent } from "./page.ts";

/**
 * Asks before an action.
 * @param isDestructive default: true
 */
export function confirmation(
  visitor: Visitor,
  {
    title,
    within,
    text,
    button,
    path,
    id,
    back,
    problem,
    isDestructive = true,
  }: Record<"title" | "text" | "button" | "path" | "back", string> & {
    id?: string;
    problem?: ComponentChildren;
    isDestructive?: boolean;
    within?: NonNullable<PageContent["within"]>;
  },
): PageContent {
  return {
    title,
    ...(within ? { within } : {}),
    status: problem ? 422 : 200,
    script: "once.js",
    content: (
      <div class="narrow">
        <h1>{title}</h1>
        {problem && <FormError>{problem}</FormError>}
        <p>{text}</p>
        <div class="actions">
          <PostButton visitor={visitor} path={path} id={id} {...(isDestructive && { class: "danger solid" })}>
            {button}
          </PostButton>
          <a class="button secondary" href={back}>
            Cancel
          </a>
        </div>
      </div>
    ),
  };
}
