import { secretKeyText } from "../../../shared/secrets/input.ts";
import { claimNames } from "../../../shared/secrets/policy.ts";
import type { ListedSecret, Secret } from "../../../shared/secrets/store.ts";
import { description, maxLengthOf } from "../../../shared/validation.ts";
import { codeField, Field, TextArea } from "../ui/form.tsx";
import type { FieldNames, FormProblems } from "../ui/problems.ts";
import { Time } from "../ui/times.tsx";

export interface SecretDraft {
  key: string;
  value: string;
  description: string;
  policy: string;
}

/** A value has at most 64 KB. Forms encode a byte as up to three. */
export const secretForm = { maxFormBytes: 256 * 1024 };

export const secretFields: FieldNames = {
  ...{ key: "key", value: "value", description: "description", policy: "policy" },
};

/** Browsers send line breaks as CRLF, which would break keys and scripts. */
export function readSecretDraft(form: URLSearchParams): SecretDraft {
  const field = (name: string) => (form.get(name) ?? "").replaceAll("\r\n", "\n");
  return {
    key: field("key").trim(),
    value: field("value"),
    description: field("description").trim(),
    policy: field("policy"),
  };
}

export function draftOfSecret({ key, description, policy }: Secret): SecretDraft {
  return { key, value: "", description: description ?? "", policy: policy ?? "" };
}

/** When a person changed it last, and when a job read it last. */
export function SecretTimes({ secret: { updatedAt, lastReadAt } }: { secret: ListedSecret }) {
  return (
    <>
      Changed <Time at={updatedAt} /> · Last read: {lastReadAt ? <Time at={lastReadAt} /> : "never"}
    </>
  );
}

interface Drafted {
  problems: FormProblems | undefined;
}

export function KeyField({ value, problems }: Drafted & { value: string | undefined }) {
  return (
    <Field
      label="Key"
      name="key"
      value={value}
      maxLength={maxLengthOf(secretKeyText)}
      required
      hint="Letters, numbers and underscores, such as DEPLOY_TOKEN. It cannot be changed later."
      autocomplete="off"
      spellcheck={false}
      problems={problems}
    />
  );
}

/** @param isLost a value was sent, which the page does not repeat */
export function ValueField({ isLost, problems }: Drafted & { isLost: boolean }) {
  const hint = "It is stored encrypted, and never shown again.";
  return (
    <TextArea
      label="Value"
      name="value"
      required
      hint={isLost ? `${hint} What you typed was not kept: please type it again.` : hint}
      {...codeField}
      problems={problems}
    />
  );
}

export function DetailFields({ draft, problems }: Drafted & { draft: SecretDraft | undefined }) {
  return (
    <>
      <Field
        label="Description"
        name="description"
        value={draft?.description}
        maxLength={maxLengthOf(description)}
        problems={problems}
      />
      <TextArea
        label="Policy"
        name="policy"
        value={draft?.policy}
        hint={`YAML: a list of rules. A job that has all claims of one rule may read the secret. Claims: ${claimNames.join(", ")}. Empty: every job of the cluster may.`}
        placeholder={"- pipeline_slug: web\n  build_branch: [main, release/*]"}
        {...codeField}
        problems={problems}
      />
    </>
  );
}
