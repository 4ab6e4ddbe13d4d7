import { createOwnAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { scopes, scopeWords } from "../../../shared/accounts/scopes.ts";
import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { CsrfField, Field, FormError, Select } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { type PageContent, type SignedInRequest, signedInAction, signedInPage } from "../ui/page.ts";

const lifetimes = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "a year"],
  ["", "no expiry"],
] as const;
const defaultLifetime = "90";

/** What the form holds, as it was sent or as it starts. */
interface Draft {
  id: string;
  description: string;
  organizationId: string;
  scopes: string[];
  days: string;
}

/** GET /user/api-access-tokens/new */
export function newAccessTokenPage(services: Services) {
  return signedInPage(services, async (request) => {
    const organizations = await organizationsOf(services, request);
    return newTokenForm(request.visitor, organizations, {
      id: newId(services.clock.now()),
      description: "",
      organizationId: organizations.length === 1 ? (organizations[0]?.id ?? "") : "",
      scopes: [],
      days: defaultLifetime,
    });
  });
}

/** POST /user/api-access-tokens/new: the answer shows the token, this once. */
export function createToken(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async (request, form) => {
    const draft = readDraft(form, services);
    const refuse = async (problem: string) =>
      newTokenForm(request.visitor, await organizationsOf(services, request), draft, problem);

    if (!isId(draft.organizationId)) return refuse("Choose the organization that it is for.");
    if (draft.scopes.length === 0) return refuse("Choose at least one thing that it may do.");
    try {
      const token = await createOwnAccessToken(services, request.user.id, {
        ...draft,
        expiresInHours: draft.days === "" ? undefined : Number(draft.days) * 24,
      });
      return token === undefined ? alreadyCreated() : created(draft, token);
    } catch (error) {
      if (error instanceof Refusal && error.status === 422) return refuse(`${error.message}.`);
      throw error;
    }
  });
}

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

async function organizationsOf({ db }: Services, { user }: SignedInRequest): Promise<Organization[]> {
  return (await listMemberships(db, user.id)).map(({ organization }) => organization);
}

function newTokenForm(
  visitor: Visitor,
  organizations: Organization[],
  draft: Draft,
  problem?: string,
): PageContent {
  return {
    title: "New API access token",
    status: problem ? 422 : 200,
    script: "once.js",
    content: (
      <>
        <p class="back">
          <a href={patterns.accessTokens}>API access tokens</a>
        </p>
        <h1>New API access token</h1>
        <form method="post" action={patterns.newAccessToken}>
          <CsrfField visitor={visitor} />
          <input type="hidden" name="id" value={draft.id} />
          {problem && <FormError>{problem}</FormError>}
          <Field
            label="Name"
            name="description"
            value={draft.description}
            maxLength={100}
            required
            hint="What it is for, so that you know it later."
          />
          <Select
            label="Organization"
            name="organization"
            value={draft.organizationId}
            options={[["", "Choose one"], ...organizations.map(({ id, name }) => [id, name] as const)]}
          />
          <Select label="Works for" name="days" value={draft.days} options={lifetimes} />
          <fieldset class="scope-choices">
            <legend>What may it do?</legend>
            {scopes.map((scope) => (
              <label class="check" key={scope}>
                <input type="checkbox" name="scopes" value={scope} checked={draft.scopes.includes(scope)} />
                <span>
                  {scopeWords[scope]} <code>{scope}</code>
                </span>
              </label>
            ))}
          </fieldset>
          <p class="actions">
            <button type="submit">Create token</button>
          </p>
        </form>
      </>
    ),
  };
}

function created({ description }: Draft, token: string): PageContent {
  return {
    title: "Token created",
    content: (
      <div class="narrow">
        <h1>Token created</h1>
        <p>
          This is “{description}”. <strong>Copy it now: it is not shown again.</strong>
        </p>
        <p class="field">
          <label for="token">Token</label>
          <textarea id="token" class="secret" rows={2} readOnly autocomplete="off" spellcheck={false}>
            {token}
          </textarea>
        </p>
        <p class="actions">
          <a class="button" href={patterns.accessTokens}>
            I have copied it
          </a>
        </p>
      </div>
    ),
  };
}

function alreadyCreated(): PageContent {
  return {
    title: "Already created",
    status: 409,
    content: (
      <div class="narrow">
        <h1>This token was already created</h1>
        <p>
          The form was sent before, and a token is shown only once. If you have not copied it, revoke it and
          create another.
        </p>
        <p>
          <a class="button" href={patterns.accessTokens}>
            Go to your tokens
          </a>
        </p>
      </div>
    ),
  };
}
