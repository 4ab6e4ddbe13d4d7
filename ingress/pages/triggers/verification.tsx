import { z } from "zod";
import type { Problem } from "../../../shared/refusal.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import type { TriggerType } from "../../../shared/triggers/types.ts";
import { maxLengthOf, problemsOf, toProblems } from "../../../shared/validation.ts";
import { hmacAlgorithms } from "../../../shared/vocabulary.ts";
import { Check, Field, Select } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

// Fields of a trigger's form that depend on its type. Checks name REST members.

export function TypeField({ types, value }: { types: TriggerType[]; value: string }) {
  return (
    <fieldset class="types">
      <legend>Type</legend>
      {types.map(({ stored, name, title, about, signatures }) => (
        <label class="check" key={name}>
          <input
            type="radio"
            name="type"
            value={name}
            class={signatures.length > 0 ? `signs ${stored}` : undefined}
            checked={name === value}
            required
          />
          <span>
            {title}
            {about && <span class="quiet hint">{about}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The texts in the fields of a form, by the columns of members. */
export type TriggerTexts = Record<Exclude<keyof typeof triggerMembers, "enabled" | "strategy">, string>;

export interface VerificationDraft {
  /** The secret is sent back to the browser only if it was generated, and shown then. */
  texts: TriggerTexts;
  isVerified: boolean;
  isGenerated: boolean;
}

const { secret: secretMember, header, algorithm, encoding, prefix } = triggerMembers;

/**
 * The hint names the chosen sender: its style sheet hides the others.
 * @param types those that sign deliveries
 * @param secretEnd undefined without a saved secret
 */
export function VerificationField({
  types,
  draft: { texts, isVerified, isGenerated },
  secretEnd,
  problems,
}: {
  types: TriggerType[];
  draft: VerificationDraft;
  secretEnd: string | undefined;
  problems: FormProblems;
}) {
  const hosts = types.filter(({ isConfigurable }) => !isConfigurable);
  const isNew = secretEnd === undefined;
  const endHint = secretEnd ? `, which ends in ${secretEnd}` : "";
  return (
    <fieldset class="verification">
      <legend>Verification</legend>
      {hosts.length > 0 && (
        <div class="optional">
          <Check
            label="Verify deliveries"
            name="verify"
            checked={isVerified}
            hint={hosts.map(({ stored, title }) => (
              <span key={stored} class={`sender ${stored}`}>
                Take only what {title} sent with the secret, or signed with it.
              </span>
            ))}
          />
          <p class="warning unverified">
            Not verified: whoever learns the URL can make builds, not the sender alone.
          </p>
        </div>
      )}
      <Field
        label={isNew ? "Secret" : "New secret"}
        name="secret"
        class="mono"
        {...(isGenerated
          ? {
              type: "text",
              value: texts.secret,
              autocomplete: "off",
              spellcheck: false,
              autofocus: !problems.length,
            }
          : { type: "password", autocomplete: "new-password" })}
        maxLength={maxLengthOf(secretMember.create)}
        problems={problems}
        hint={
          isGenerated
            ? isNew
              ? "It is shown once more, with the URL, when the trigger is created."
              : "Copy it to the sender now: it is not shown again after you save."
            : isNew
              ? "Type the sender’s, or generate one and copy it there."
              : `Empty: the present one stays${endHint}.`
        }
      />
      {isGenerated && <input type="hidden" name="generated" value="1" />}
      <p class="actions">
        <button type="submit" name="do" value="generate" class="secondary" formNoValidate>
          Generate
        </button>
      </p>
      {hosts.length < types.length && <SignatureFields texts={texts} problems={problems} />}
    </fieldset>
  );
}

function SignatureFields({ texts, problems }: { texts: TriggerTexts; problems: FormProblems }) {
  const { kind: _, ...prefixField } = prefix.field;
  const exact = { class: "mono", autocomplete: "off", spellcheck: false, problems };
  return (
    <div class="signature">
      <Field
        {...header.field}
        {...exact}
        api="verification.header"
        value={texts.header}
        maxLength={maxLengthOf(header.create)}
      />
      <Select
        {...algorithm.field}
        value={texts.algorithm}
        options={hmacAlgorithms.map((each) => [each, `HMAC-${each.toUpperCase()}`])}
        problems={problems}
      />
      <Select
        {...encoding.field}
        value={texts.encoding}
        options={[
          ["hex", "hex"],
          ["base64", "Base64"],
        ]}
        problems={problems}
      />
      <Field {...prefixField} {...exact} value={texts.prefix} maxLength={maxLengthOf(prefix.create)} />
    </div>
  );
}

const signature = z.object({
  header: header.create,
  algorithm: algorithm.create,
  encoding: encoding.create,
  prefix: prefix.create,
});

/** The members of a signature, and the problems that they have. */
export function checkSignature(texts: TriggerTexts) {
  const { data = {}, error } = signature.safeParse(texts);
  return { signature: data, problems: error ? toProblems(error, "verification") : [] };
}

/** Refuses a secret without verification: its owner would believe that deliveries are verified. */
export function checkSecret(
  { isVerified, texts: { secret } }: VerificationDraft,
  isRequired: boolean,
): Problem[] {
  const member = "verification.secret";
  if (!isVerified)
    return secret ? [{ field: member, message: "Secret is of use only with Verify deliveries" }] : [];
  return secret || isRequired ? problemsOf(secretMember.create, secret, member) : [];
}
