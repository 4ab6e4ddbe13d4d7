import { Fragment } from "preact";
import type { OwnAccessToken } from "../../../shared/accounts/access-token-store.ts";
import { revokeAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { LinkButton } from "../ui/form.tsx";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { CursorPager } from "../ui/pager.tsx";
import { EntryList, separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadAccessToken, loadAccessTokens, readId } from "./load.ts";

/** GET /user/api-access-tokens */
export const accessTokensPage = accountPage(async (services, request) => {
  const { rows, links } = await loadAccessTokens(services, request);
  return {
    title: "API access tokens",
    content: (
      <>
        <AccessTokens tokens={rows} />
        <CursorPager links={links} />
      </>
    ),
  };
});

/** GET …/revoke */
export const revokeAccessTokenPage = accountPage(async (services, request) => {
  const ownToken = await loadAccessToken(services, request);
  return confirmation({
    title: "Revoke this token?",
    text: `Programs that use “${nameOf(ownToken)}” are refused from now on.`,
    button: "Revoke",
    path: pathTo(patterns.revokeAccessToken, { id: ownToken.token.id }),
    back: patterns.accessTokens,
  });
});

/** POST …/revoke */
export const revokeOwnAccessToken = accountAction(async (services, request) => {
  await revokeAccessToken(services, readId(request, "access token"), request.user.id);
  return withNotice(patterns.accessTokens, "token_revoked");
});

function AccessTokens({ tokens }: { tokens: OwnAccessToken[] }) {
  return (
    <>
      <div class="heading">
        <h1>API access tokens</h1>
        <p class="actions">
          <LinkButton href={patterns.newAccessToken} text="New token" />
        </p>
      </div>
      <p>A token lets a script of yours use the REST API in your name, in one organization.</p>
      <EntryList rows={tokens} empty="You have no tokens yet.">
        {(ownToken) => <Entry key={ownToken.token.id} ownToken={ownToken} />}
      </EntryList>
    </>
  );
}

function Entry({ ownToken }: { ownToken: OwnAccessToken }) {
  const { token, organization } = ownToken;
  return (
    <li class="entry">
      <div>
        <h2>{nameOf(ownToken)}</h2>
        <p>
          In {organization.name}:{" "}
          {token.scopes.map((scope) => (
            <Fragment key={scope}>
              <code>{scope}</code>{" "}
            </Fragment>
          ))}
        </p>
        <p class="quiet">
          Created <Time at={token.createdAt} />
          {separator}
          Last used: {token.lastUsedAt ? <Time at={token.lastUsedAt} /> : "never"}
          {separator}
          {token.expiresAt ? (
            <>
              Expires <Time at={token.expiresAt} />
            </>
          ) : (
            "No expiry"
          )}
        </p>
      </div>
      <p class="actions">
        <LinkButton
          kind="danger"
          href={pathTo(patterns.revokeAccessToken, { id: token.id })}
          text="Revoke"
          hidden={nameOf(ownToken)}
        />
      </p>
    </li>
  );
}

function nameOf({ token }: OwnAccessToken): string {
  return token.description || "Token without a name";
}
