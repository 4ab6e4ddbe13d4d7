import { z } from "zod";
import type { Problem } from "../../../shared/refusal.ts";
import { type SignatureChange, signatureMembers, signingSecret } from "../../../shared/triggers/input.ts";
import { hmacDefaults, type TriggerType } from "../../../shared/triggers/types.ts";
import { maxLengthOf, problemsOf, toProblems } from "../../../shared/validation.ts";
import { type HmacSignature, hmacAlgorithms } from "../../../shared/vocabulary.ts";
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
            <span class="quiet hint">{about ?? `Webhooks of ${title}, which can be verified`}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

export interface VerificationDraft {
  isVerified: boolean;
  /** Sent back to the browser only if it was generated, and shown then. */
  secret: string;
  isGenerated: boolean;
  /** Used if the owner of the type's triggers chooses it. */
  signature: Record<keyof HmacSignature, string>;
}

/** Names of the fields. */
export const signatureFields = {
  header: "signature_header",
  algorithm: "signature_algorithm",
  encoding: "signature_encoding",
  prefix: "signature_prefix",
} as const satisfies Record<keyof HmacSignature, string>;

/**
 * The hint names the chosen sender: its style sheet hides the others.
 * @param types those that sign deliveries
 * @param secretEnd undefined without a saved secret
 */
export function VerificationField({
  types,
  draft: { isVerified, secret, isGenerated, signature },
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
        </div>
      )}
      <Field
        label={isNew ? "Secret" : "New secret"}
        name="secret"
        class="mono"
        {...(isGenerated
          ? {
              type: "text",
              value: secret,
              autocomplete: "off",
              spellcheck: false,
              autofocus: !problems.length,
            }
          : { type: "password", autocomplete: "new-password" })}
        maxLength={maxLengthOf(signingSecret)}
        problems={problems}
        hint={
          isGenerated
            ? "Copy it to the sender now: it is not shown again after you save."
            : isNew
              ? "The one that the sender has."
              : `Empty: the present one stays${endHint}.`
        }
      />
      {isGenerated && <input type="hidden" name="generated" value="1" />}
      <p class="actions">
        <button type="submit" name="do" value="generate" class="secondary" formNoValidate>
          Generate
        </button>
      </p>
      {hosts.length < types.length && <SignatureFields signature={signature} problems={problems} />}
    </fieldset>
  );
}

function SignatureFields({
  signature,
  problems,
}: {
  signature: Record<keyof HmacSignature, string>;
  problems: FormProblems;
}) {
  const { algorithm, encoding } = signatureFields;
  const text = (member: "header" | "prefix") => ({
    name: signatureFields[member],
    class: "mono",
    value: signature[member],
    maxLength: maxLengthOf(signatureMembers[member]),
    autocomplete: "off",
    spellcheck: false,
    problems,
  });
  return (
    <div class="signature">
      <Field label="Header of the signature" {...text("header")} />
      <Select
        label="Algorithm"
        name={algorithm}
        value={signature.algorithm}
        options={hmacAlgorithms.map((each) => [each, `HMAC-${each.toUpperCase()}`])}
        problems={problems}
      />
      <Select
        label="Encoding"
        name={encoding}
        value={signature.encoding}
        options={[
          ["hex", "hex"],
          ["base64", "Base64"],
        ]}
        problems={problems}
      />
      <Field
        label="Prefix"
        {...text("prefix")}
        hint="The text before the encoded HMAC, such as sha256=. It may be empty."
      />
    </div>
  );
}

/** Reads the fields of `SignatureFields`. */
export function readSignature(form: URLSearchParams): Record<keyof HmacSignature, string> {
  const read = (member: keyof HmacSignature) => form.get(signatureFields[member]) ?? hmacDefaults[member];
  return {
    header: read("header").trim(),
    algorithm: read("algorithm"),
    encoding: read("encoding"),
    prefix: read("prefix"),
  };
}

/** The members of a signature, and the problems that they have. */
export function checkSignature(given: Record<keyof HmacSignature, string>): {
  signature: SignatureChange;
  problems: Problem[];
} {
  const parsed = z.object(signatureMembers).safeParse(given);
  if (parsed.success) return { signature: parsed.data, problems: [] };
  return { signature: {}, problems: toProblems(parsed.error, "verification") };
}

/** Refuses a secret without verification: its owner would believe that deliveries are verified. */
export function checkSecret(
  { isVerified, secret }: { isVerified: boolean; secret: string },
  isRequired: boolean,
): Problem[] {
  const member = "verification.secret";
  if (!isVerified)
    return secret ? [{ field: member, message: "Secret is of use only with Verify deliveries" }] : [];
  return secret || isRequired ? problemsOf(signingSecret, secret, member) : [];
}
