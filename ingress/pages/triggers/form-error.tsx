import { FormError } from "../ui/form.tsx";
import type { TriggerDraft } from "./draft.ts";

/** How the reasons begin that are about a field. Of the others, the form's error itself tells. */
const reasons = [
  ["Description ", "label"],
  ["Branch ", "branch"],
  ["Commit ", "commit"],
  ["Build message ", "message"],
  ["Line ", "environment"],
  ["Environment ", "environment"],
  ["Secret ", "secret"],
  ["Filter", "filter"],
] as const;

/** The field that a form's error is about first. */
export type WrongField = (typeof reasons)[number][1] | undefined;

export function wrongField(problem = ""): WrongField {
  return reasons.find(([start]) => problem.startsWith(start))?.[1];
}

/** Why the form came back. What was typed is in it again, but for the secret. */
export function TriggerFormError({ problem, draft }: { problem: string; draft: TriggerDraft }) {
  return (
    <FormError inField={wrongField(problem) !== undefined}>
      {problem}
      {draft.secret && " The secret was not kept: please type it again."}
    </FormError>
  );
}
