import type { ClusterName } from "../../../shared/clusters/store.ts";
import { notificationServiceMembers, serviceStates } from "../../../shared/notifications/members.ts";
import { webhookEvents } from "../../../shared/notifications/settings.ts";
import { Check, CheckGroup, Field, Select, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import type { ServiceDraft } from "./draft.ts";
import { eventWords, stateWords } from "./words.ts";

interface FormParts {
  draft: ServiceDraft;
  clusters: ClusterName[];
  problems: FormProblems | undefined;
  isNew: boolean;
}

/** The fields of a service, those of its provider first. */
export function ServiceFields(parts: FormParts) {
  const { draft, problems } = parts;
  const { description, branchConfiguration } = notificationServiceMembers;
  const Own = { webhook: WebhookFields, slack: SlackFields, email: EmailFields }[draft.provider];
  return (
    <>
      <Field
        label={description.field.label}
        name="description"
        hint={description.field.hint}
        value={draft.texts.description}
        maxLength={255}
        problems={problems}
      />
      <Own {...parts} />
      <ScopeFields {...parts} />
      <Field
        label={branchConfiguration.field.label}
        api="branch_configuration"
        name="branch_configuration"
        hint={branchConfiguration.field.hint}
        value={draft.texts.branch_configuration}
        autocomplete="off"
        spellcheck={false}
        problems={problems}
      />
    </>
  );
}

function WebhookFields({ draft, problems, isNew }: FormParts) {
  const { texts, events, verifiesTls } = draft;
  return (
    <>
      <AddressField value={texts.url} placeholder="https://example.com/hook" required problems={problems} />
      <Field
        label="Token"
        name="token"
        value={texts.token}
        autocomplete="off"
        spellcheck={false}
        hint={isNew ? "Empty: one is made." : "Empty: the present one stays."}
        problems={problems}
      />
      <Select
        label="The token is"
        api="settings.token_mode"
        name="token_mode"
        value={texts.token_mode ?? ""}
        options={[
          ["signature", "the key of a signature, X-Buildkite-Signature"],
          ["token", "sent as it is, X-Buildkite-Token"],
        ]}
      />
      <Check label="Check certificates" api="settings.tls_verify" name="tls_verify" checked={verifiesTls} />
      <CheckGroup label="Events" name="events" problems={problems}>
        {webhookEvents.map((event) => (
          <Check
            key={event}
            name="event"
            value={event}
            label={event}
            hint={eventWords[event]}
            checked={events.includes(event)}
          />
        ))}
      </CheckGroup>
    </>
  );
}

function SlackFields({ draft, problems, isNew }: FormParts) {
  const { texts } = draft;
  return (
    <>
      <AddressField
        value={texts.url}
        placeholder="https://hooks.slack.com/services/…"
        required={isNew}
        hint={
          isNew
            ? "It is a secret: it is stored encrypted, and never shown again."
            : "It is stored encrypted. Empty: the present one stays."
        }
        problems={problems}
      />
      <Field
        label="Channel"
        name="channel"
        value={texts.channel}
        placeholder="#builds"
        hint="That of the address. Pipelines name it in notify. Empty: they cannot."
        problems={problems}
      />
      <Select
        label="Texts"
        api="settings.theme"
        name="theme"
        value={texts.theme ?? ""}
        options={[
          ["emoji", "begin with a mark"],
          ["text", "are text alone"],
        ]}
      />
      <States draft={draft} problems={problems} />
    </>
  );
}

function EmailFields({ draft, problems }: FormParts) {
  return (
    <>
      <TextArea
        label="Addresses"
        name="addresses"
        value={draft.texts.addresses}
        hint="At most 20, with commas, blanks or lines between them."
        required
        problems={problems}
      />
      <States draft={draft} problems={problems} />
    </>
  );
}

function AddressField(input: {
  value: string | undefined;
  placeholder: string;
  required: boolean;
  hint?: string;
  problems: FormProblems | undefined;
}) {
  return (
    <Field
      label="Address"
      api="settings.url"
      name="url"
      type="url"
      autocomplete="off"
      spellcheck={false}
      {...input}
    />
  );
}

function States({ draft, problems }: Pick<FormParts, "draft" | "problems">) {
  return (
    <CheckGroup label="Tells of" api="build_states" name="states" problems={problems}>
      {serviceStates.map((state) => (
        <Check
          key={state}
          name="state"
          value={state}
          label={stateWords[state]}
          checked={draft.states.includes(state)}
        />
      ))}
    </CheckGroup>
  );
}

function ScopeFields({ draft, clusters, problems }: FormParts) {
  return (
    <>
      <Select
        label="Pipelines"
        api="scope"
        name="scope"
        value={draft.texts.scope ?? ""}
        options={[
          ["all", "All"],
          ["some_projects", "Some pipelines, named below"],
          ["some_clusters", "Those of some clusters, chosen below"],
        ]}
        problems={problems}
      />
      <TextArea
        label="Some pipelines"
        api="scope_uuids, as ids"
        name="pipelines"
        value={draft.pipelines}
        rows={2}
        hint="Their slugs, as in addresses, with blanks or lines between them."
        autocomplete="off"
        spellcheck={false}
        problems={problems}
      />
      {clusters.length > 0 && (
        <CheckGroup label="Some clusters" api="scope_uuids" name="clusters" problems={problems}>
          {clusters.map(({ id, name }) => (
            <Check key={id} name="cluster" value={id} label={name} checked={draft.clusters.includes(id)} />
          ))}
        </CheckGroup>
      )}
    </>
  );
}
