import { createOwnAccessToken } from "../../../shared/accounts/access-tokens.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { maxNameLength } from "../../../shared/accounts/organizations.ts";
import { type Scope, scopes, scopeWords, usedScopes } from "../../../shared/accounts/scopes.ts";
import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Visitor } from "../../auth/session.ts";
import { CopyField } from "../ui/copy-field.tsx";
import { DefaultButton, Field, LinkButton, PostForm, Select } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { loadOrganizations } from "./load.ts";

const lifetimes = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "a year"],
  ["", "no expiry"],
] as const;
const defaultLifetime = "90";

const isRead = (scope: string) => scope.startsWith("read_");
const unusedScopes = scopes.filter((scope) => !usedScopes.includes(scope));

/** Buttons that choose several scopes at once. */
const presets: Record<string, { label: string; scopes: readonly Scope[] }> = {
  read: { label: "Read everything", scopes: usedScopes.filter(isRead) },
  builds: {
    label: "Make and watch builds",
    scopes: ["read_pipelines", "read_builds", "read_build_logs", "write_builds"],
  },
  all: { label: "Everything", scopes: usedScopes },
  none: { label: "Nothing", scopes: [] },
};

interface Draft {
  id: string;
  description: string;
  organizationId: string;
  scopes: string[];
  days: string;
  /** The one that was just chosen. */
  preset?: string;
}

/** GET …/api-access-tokens/new */
export const newAccessTokenPage = accountPage(async (services, request) => {
  const organizations = await loadOrganizations(services, request);
  const draft = {
    id: newId(services.clock.now()),
    description: "",
    organizationId: organizations.length === 1 ? (organizations[0]?.id ?? "") : "",
    scopes: [],
    days: defaultLifetime,
  };
  return newTokenForm(request.visitor, { organizations, draft });
});

/** POST …/api-access-tokens/new {id, description, organization, days, scopes, preset}. Only this answer shows the token. */
export const createToken = accountAction(async (services, request, form) => {
  const draft = readDraft(form, services);
  const preset = form.get("preset") ?? "";
  if (Object.hasOwn(presets, preset)) {
    const chosen = { ...draft, scopes: [...(presets[preset]?.scopes ?? [])], preset };
    return newTokenForm(request.visitor, {
      organizations: await loadOrganizations(services, request),
      draft: chosen,
    });
  }
  const outcome = await tryForm(
    () =>
      createOwnAccessToken(services, request.user.id, {
        ...requireChoices(draft),
        expiresInHours: draft.days === "" ? undefined : Number(draft.days) * 24,
      }),
    { description: "description", organization: "organization" },
  );
  if ("done" in outcome) return outcome.done === undefined ? alreadyCreated() : created(draft, outcome.done);
  const organizations = await loadOrganizations(services, request);
  return newTokenForm(request.visitor, { organizations, draft, problems: outcome.problems });
});

function readDraft(form: URLSearchParams, services: Services): Draft {
  const days = form.get("days") ?? defaultLifetime;
  return {
    id: readFormId(services, form),
    description: (form.get("description") ?? "").trim(),
    organizationId: form.get("organization") ?? "",
    scopes: form.getAll("scopes"),
    days: lifetimes.some(([known]) => known === days) ? days : defaultLifetime,
  };
}

/** @throws Refusal 422 */
function requireChoices(draft: Draft): Draft {
  if (!isId(draft.organizationId))
    throw validationFailed({ field: "organization", message: "Choose the organization that it is for" });
  if (draft.scopes.length === 0)
    throw validationFailed({ field: "scopes", message: "Choose at least one thing that it may do" });
  return draft;
}

function newTokenForm(
  _visitor: Visitor,
  {
    organizations,
    draft,
    problems,
  }: { organizations: Organization[]; draft: Draft; problems?: FormProblems },
): PageContent {
  return {
    title: "New API access token",
    status: problems ? 422 : 200,
    script: "once.js",
    content: (
      <>
        <h1>New API access token</h1>
        <PostForm path={patterns.newAccessToken} id={draft.id} problems={problems} button="Create token">
          <DefaultButton />
          <Field
            label="Name"
            name="description"
            value={draft.description}
            maxLength={maxNameLength}
            required
            problems={problems}
            hint="Its purpose, so that you recognize it later."
          />
          <Select
            label="Organization"
            name="organization"
            value={draft.organizationId}
            options={[["", "Choose one"], ...organizations.map(({ id, name }) => [id, name] as const)]}
            problems={problems}
          />
          <Select label="Works for" name="days" value={draft.days} options={lifetimes} />
          <section aria-labelledby="scopes">
            <h2 id="scopes">What may it do?</h2>
            <p class="actions">
              {Object.entries(presets).map(([name, { label }]) => (
                <button
                  key={name}
                  type="submit"
                  name="preset"
                  value={name}
                  class="secondary"
                  formNoValidate
                  autofocus={name === draft.preset}
                >
                  {label}
                </button>
              ))}
            </p>
            <Scopes legend="Read" of={usedScopes.filter(isRead)} chosen={draft.scopes} />
            <Scopes legend="Write" of={usedScopes.filter((scope) => !isRead(scope))} chosen={draft.scopes} />
            <details class="fold" open={unusedScopes.some((scope) => draft.scopes.includes(scope))}>
              <summary>Scopes without effect here</summary>
              <p>They are known, so that clients may ask for them, but no operation needs them.</p>
              <Scopes legend="Without an operation" of={unusedScopes} chosen={draft.scopes} />
            </details>
          </section>
        </PostForm>
      </>
    ),
  };
}

function Scopes({ legend, of, chosen }: { legend: string; of: readonly Scope[]; chosen: string[] }) {
  return (
    <fieldset class="scope-choices">
      <legend>{legend}</legend>
      {of.map((scope) => (
        <label class="check" key={scope}>
          <input type="checkbox" name="scopes" value={scope} checked={chosen.includes(scope)} />
          <span>
            {scopeWords[scope]} <code>{scope}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function created({ description }: Draft, token: string): PageContent {
  return narrowPage({
    title: "Token created",
    script: "copy.js",
    content: (
      <>
        <p>
          This is “{description}”. <strong>Copy it now: it is not shown again.</strong>
        </p>
        <CopyField id="token" label="Token" rows={2} value={token} />
        <p class="actions">
          <LinkButton href={patterns.accessTokens} text="I have copied it" />
        </p>
      </>
    ),
  });
}

function alreadyCreated(): PageContent {
  return narrowPage({
    title: "Already created",
    status: 409,
    heading: "This token was already created",
    content: (
      <>
        <p>
          The form was sent before, and a token is shown only once. If you have not copied it, revoke it and
          create another.
        </p>
        <p>
          <LinkButton href={patterns.accessTokens} text="Go to your tokens" />
        </p>
      </>
    ),
  });
}
