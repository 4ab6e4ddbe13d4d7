import { secretMembers } from "../../../shared/secrets/members.ts";
import type { ListedSecret } from "../../../shared/secrets/store.ts";
import { codeField, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

/** A value has at most 64 KB. Forms encode a byte as up to three. */
export const secretForm = { maxFormBytes: 256 * 1024 };

/** When a person changed it last, and when a job read it last. */
export function SecretTimes({ secret: { updatedAt, lastReadAt } }: { secret: ListedSecret }) {
  return (
    <>
      Changed <Time at={updatedAt} />
      {separator}
      Last read: {lastReadAt ? <Time at={lastReadAt} /> : "never"}
    </>
  );
}

/** @param isLost a value was sent, which the page does not repeat */
export function ValueField({ isLost, problems }: { isLost: boolean; problems: FormProblems | undefined }) {
  const { label, hint } = secretMembers.value.field;
  return (
    <TextArea
      label={label}
      name="value"
      required
      hint={isLost ? `${hint} What you typed was not kept: please type it again.` : hint}
      {...codeField}
      problems={problems}
    />
  );
}
