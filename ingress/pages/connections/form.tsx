import { connectionMembers } from "../../../shared/connections/members.ts";
import {
  type ConnectionType,
  connectionFacts,
  connectionTypes,
  titleOfType,
} from "../../../shared/connections/types.ts";
import type { Draft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { Check, Field, Select } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

const titleOption = (type: ConnectionType) => [type, titleOfType(type)] as const;

/** @param hasToken of a connection that is changed: an empty field leaves its token */
export function ConnectionFields({
  when,
  draft,
  problems,
  hasToken = false,
}: {
  when: "create" | "change";
  draft: Draft;
  problems: FormProblems | undefined;
  hasToken?: boolean;
}) {
  const { type, token, publishStatuses } = connectionMembers;
  const own = {
    ...(when === "create" && {
      type: (
        <Select
          label={type.field.label}
          api="type"
          name="type"
          value={draft.type ?? ""}
          options={[["", "Choose one"], ...connectionTypes.map(titleOption)]}
          required
        />
      ),
    }),
    token: (
      <>
        <Field
          label={hasToken ? "New token" : token.field.label}
          name="token"
          autocomplete="off"
          spellcheck={false}
          hint={`It is stored encrypted, and never shown again. ${hasToken ? "Empty: the present one stays." : "Without one the host is never called."}`}
          problems={problems}
        />
        {hasToken && <Check label="Remove the present token" name="remove_token" checked={false} />}
      </>
    ),
    publishStatuses: (
      <Check
        label={publishStatuses.field.label}
        api="publish_statuses"
        name="publish_statuses"
        checked={draft.publishStatuses !== "false"}
      />
    ),
  };
  return <MemberFields members={connectionMembers} when={when} draft={draft} problems={problems} own={own} />;
}

/** The smallest rights of tokens, and whom they serve. @param types default: all */
export function TokenRights({ types = connectionTypes }: { types?: readonly ConnectionType[] }) {
  return (
    <>
      <p>
        Members choose the repositories of pipelines. So they can have commit statuses and webhooks made at
        each repository that the token reaches: let it reach those alone that all members may know of. A
        webhook has the address of one pipeline only, and the audit log names its repository.
      </p>
      <dl class="facts">
        {types.map((type) => {
          const { statuses, webhooks } = connectionFacts[type].rights;
          return [
            <dt key={type}>{titleOfType(type)}</dt>,
            <dd key={`${type} rights`}>
              For statuses {statuses}. To make webhooks, besides: {webhooks}.
            </dd>,
          ];
        })}
      </dl>
    </>
  );
}
