import { patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { secretChange, secretMembers, secretValue } from "../../../shared/secrets/members.ts";
import { deleteSecret, replaceSecretValue, updateSecret } from "../../../shared/secrets/secrets.ts";
import type { Secret } from "../../../shared/secrets/store.ts";
import { problemsOf } from "../../../shared/validation.ts";
import { clusterPath } from "../address/cluster.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { type Draft, draftOf, fieldNamesOf, parseDraft, readDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { loadSecret, secretPath } from "./address.ts";
import { SecretTimes, secretForm, ValueField } from "./form.tsx";

const fieldNames = fieldNamesOf(secretMembers);

/** GET …/secrets/:secret */
export const secretPage = adminPage(async (services, request) => {
  const { secret } = await loadSecret(services, request);
  return show(request, secret);
});

/** POST …/secrets/:secret, with the members that change. */
export const saveSecret = adminAction(async (services, request, form) => {
  const { secret } = await loadSecret(services, request);
  const draft = readDraft(secretMembers, form);
  const outcome = await tryForm(
    async () => updateSecret(services, request.actor, secret, parseDraft(secretChange, secretMembers, draft)),
    fieldNames,
  );
  if ("problems" in outcome) return show(request, secret, { draft, details: outcome.problems });
  return withNotice(secretPath(request, secret), "secret_saved");
});

/** POST …/secrets/:secret/value {value} */
export const replaceValue = adminAction(async (services, request, form) => {
  const { secret } = await loadSecret(services, request);
  const { value = "" } = readDraft(secretMembers, form);
  const outcome = await tryForm(async () => {
    const problems = problemsOf(secretValue, value, "value");
    if (problems.length > 0) throw validationFailed(...problems);
    return replaceSecretValue(services, request.actor, secret, value);
  }, fieldNames);
  if ("problems" in outcome) return show(request, secret, { value: outcome.problems });
  return withNotice(secretPath(request, secret), "secret_replaced");
}, secretForm);

/** GET and POST …/secrets/:secret/delete */
export const deleteSecretPage = confirmPage({
  section: "clusters",
  load: loadSecret,
  title: ({ secret }) => `Delete the secret ${secret.key}?`,
  text: () => "Jobs that ask for it fail from now on. This cannot be undone.",
  path: (request, { secret }) => secretPath(request, secret, patterns.deleteSecretPage),
  back: (request, { secret }) => secretPath(request, secret),
  run: async (services, request, { cluster, secret }) => {
    await deleteSecret(services, request.actor, secret);
    return withNotice(clusterPath(request, cluster, patterns.secretsPage), "secret_deleted");
  },
});

/** GET …/secrets/:secret/value: signing in after the session ended leads here. */
export const redirectToSecret = memberPage(async (services, request) => {
  const { secret } = await loadSecret(services, request);
  return secretPath(request, secret);
});

interface Refused {
  draft?: Draft;
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
          <MemberFields
            members={secretMembers}
            when="change"
            draft={draft ?? draftOf(secretMembers, secret)}
            problems={details}
          />
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
