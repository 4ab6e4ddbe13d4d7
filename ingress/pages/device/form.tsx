import type { OrganizationChoice } from "../../../shared/device/decide.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Visitor } from "../../auth/session.ts";
import { ScopeList } from "../account/scope-list.tsx";
import { CsrfField, FormError } from "../ui/form.tsx";
import type { PageContent } from "../ui/page.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import type { Review } from "./load.ts";

interface Refused {
  organizationId: string;
  problem: string;
}

/** Denying is as easy as authorizing. */
export function reviewForm(visitor: Visitor, review: Review, refused?: Refused): PageContent {
  const { application, code, choices, userCode } = review;
  const chosen = refused?.organizationId || preselect(review);
  const canAuthorize = choices.some(({ granted }) => granted.length > 0);
  return {
    title: `Authorize ${application.name}?`,
    status: refused ? 422 : 200,
    content: (
      <div class="narrow">
        <h1>
          Authorize <span class="named">{application.name}</span>?
        </h1>
        <FormError>{refused?.problem}</FormError>
        <p>
          It asks to act as <strong>{visitor.user?.email}</strong>. Your device must show this code:
        </p>
        <p class="shown-code">{userCode}</p>
        <RequestFacts review={review} />
        <form method="post" action={pathTo(patterns.reviewDevice, { code: userCode })}>
          <CsrfField />
          <h2>It could</h2>
          <ScopeList scopes={code.scopes} />
          {choices.length > 0 ? (
            <fieldset class="choices">
              <legend>In which organization?</legend>
              {choices.map((choice) => (
                <Choice key={choice.organization.id} choice={choice} chosen={chosen} />
              ))}
            </fieldset>
          ) : (
            <p class="warning">You belong to no organization, so you cannot authorize anything.</p>
          )}
          {code.cameByLink && canAuthorize && (
            <label class="check warning">
              <input type="checkbox" name="mine" value="1" />
              <span>I started this on a device of mine. Nobody sent me this link.</span>
            </label>
          )}
          <p class="actions equal">
            {canAuthorize && (
              <button type="submit" name="decision" value="authorize">
                Authorize
              </button>
            )}
            <button type="submit" name="decision" value="deny" class="danger solid" formNoValidate>
              Deny
            </button>
          </p>
          <p class="quiet">
            Not you?{" "}
            <button type="submit" name="decision" value="release" class="plain" formNoValidate>
              Sign in as someone else
            </button>
          </p>
        </form>
      </div>
    ),
  };
}

function RequestFacts({ review: { code } }: { review: Review }) {
  return (
    <dl class="facts">
      <Fact name="Asked from" value={`IP address ${code.requestIp || "unknown"}`} />
      <Fact name="By" value={code.requestUserAgent ?? "a program that does not say its name"} class="agent" />
      <Fact name="When" value={<Time at={code.createdAt} />} />
    </dl>
  );
}

function Choice({ choice, chosen }: { choice: OrganizationChoice; chosen: string | undefined }) {
  const { organization, granted, dropped } = choice;
  const id = `organization-${organization.id}`;
  return (
    <div class="check">
      <input
        type="radio"
        name="organization"
        id={id}
        value={organization.id}
        checked={organization.id === chosen}
        aria-describedby={`${id}-note`}
        required
      />
      <div>
        <label for={id}>{organization.name}</label>
        <div class="quiet" id={`${id}-note`}>
          {granted.length === 0 &&
            "None of this can be granted here: all of it needs an admin, and you are a member."}
          {granted.length > 0 && dropped.length > 0 && (
            <>
              Not granted here, because these need an admin and you are a member:
              <ScopeList scopes={dropped} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}

/** The client's hint if the user belongs to it, or else the only organization. */
function preselect({ code, choices }: Review): string | undefined {
  const ids = choices.map(({ organization }) => organization.id);
  if (code.preselectedOrganizationId && ids.includes(code.preselectedOrganizationId))
    return code.preselectedOrganizationId;
  return ids.length === 1 ? ids[0] : undefined;
}
