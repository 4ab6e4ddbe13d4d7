import { patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { secretChange, secretValue } from "../../../shared/secrets/input.ts";
import { deleteSecret, replaceSecretValue, updateSecret } from "../../../shared/secrets/secrets.ts";
import type { Secret } from "../../../shared/secrets/store.ts";
import { problemsOf, toProblems } from "../../../shared/validation.ts";
import { clusterPath } from "../address/cluster.ts";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { confirmation, narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { loadSecret, secretPath } from "./address.ts";
import {
  DetailFields,
  draftOfSecret,
  readSecretDraft,
  type SecretDraft,
  SecretTimes,
  secretFields,
  secretForm,
  ValueField,
} from "./form.tsx";

/** GET …/secrets/:secret */
export const secretPage = adminPage(async (services, request) => {
  const { secret } = await loadSecret(services, request);
  return show(request, secret);
});

/** POST …/secrets/:secret {description, policy} */
export const saveSecret = adminAction(async (services, request, form) => {
  const { secret } = await loadSecret(services, request);
  const draft = readSecretDraft(form);
  const outcome = await tryForm(async () => {
    const { data, error } = secretChange.safeParse(draft);
    if (error) throw validationFailed(...toProblems(error));
    return updateSecret(services, request.actor, secret, data);
  }, secretFields);
  if ("problems" in outcome) return show(request, secret, { draft, details: outcome.problems });
  return withNotice(secretPath(request, secret), "secret_saved");
});

/** POST …/secrets/:secret/value {value} */
export const replaceValue = adminAction(async (services, request, form) => {
  const { secret } = await loadSecret(services, request);
  const { value } = readSecretDraft(form);
  const outcome = await tryForm(async () => {
    const problems = problemsOf(secretValue, value, "value");
    if (problems.length > 0) throw validationFailed(...problems);
    return replaceSecretValue(services, request.actor, secret, value);
  }, secretFields);
  if ("problems" in outcome) return show(request, secret, { value: outcome.problems });
  return withNotice(secretPath(request, secret), "secret_replaced");
}, secretForm);

/** GET …/secrets/:secret/delete */
export const deleteSecretPage = adminPage(async (services, request) => {
  const { secret } = await loadSecret(services, request);
  return confirmation({
    title: `Delete the secret ${secret.key}?`,
    section: "clusters",
    text: "Jobs that ask for it fail from now on. This cannot be undone.",
    button: "Delete",
    path: secretPath(request, secret, patterns.deleteSecretPage),
    back: secretPath(request, secret),
  });
});

/** POST …/secrets/:secret/delete */
export const removeSecret = adminAction(async (services, request) => {
  const { cluster, secret } = await loadSecret(services, request);
  await deleteSecret(services, request.actor, secret);
  return withNotice(clusterPath(request, cluster, patterns.secretsPage), "secret_deleted");
});

/** GET …/secrets/:secret/value: signing in after the session ended leads here. */
export const redirectToSecret = memberPage(async (services, request) => {
  const { secret } = await loadSecret(services, request);
  return secretPath(request, secret);
});

interface Refused {
  draft?: SecretDraft;
  details?: FormProblems;
  value?: FormProblems;
}

function show(request: MemberRequest, secret: Secret, { draft, details, value }: Refused = {}): PageContent {
  return narrowPage({
    title: secret.key,
    problems: details ?? value,
    section: "clusters",
    content: (
      <>
        <p class="quiet">
          <SecretTimes secret={secret} />
        </p>
        <PostForm path={secretPath(request, secret)} problems={details} button="Save">
          <DetailFields draft={draft ?? draftOfSecret(secret)} problems={details} />
        </PostForm>
        <h2>New value</h2>
        <PostForm
          path={secretPath(request, secret, patterns.secretValuePage)}
          problems={value}
          button="Replace the value"
        >
          <ValueField isLost={value !== undefined} problems={value} />
        </PostForm>
        <p class="actions">
          <LinkButton
            kind="danger"
            href={secretPath(request, secret, patterns.deleteSecretPage)}
            text="Delete"
          />
        </p>
      </>
    ),
  });
}
