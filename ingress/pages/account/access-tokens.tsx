import { Fragment } from "preact";
import { revokeAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Bodies } from "../../http/body.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { withNotice } from "../ui/notices.ts";
import { signedInAction, signedInPage } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";
import { loadAccessToken, loadAccessTokens, type OwnToken, readId } from "./load.ts";

/** GET /user/api-access-tokens */
export function accessTokensPage(services: Services) {
  return signedInPage(services, async (request) => {
    const tokens = await loadAccessTokens(services, request);
    return {
      title: "API access tokens",
      content: <AccessTokens tokens={tokens} now={services.clock.now()} />,
    };
  });
}

/** GET …/revoke */
export function revokeAccessTokenPage(services: Services) {
  return signedInPage(services, async (request) => {
    const ownToken = await loadAccessToken(services, request);
    return confirmation(request.visitor, {
      title: "Revoke this token?",
      text: `Programs that use “${nameOf(ownToken)}” are refused from now on.`,
      button: "Revoke",
      path: pathTo(patterns.revokeAccessToken, { id: ownToken.token.id }),
      back: patterns.accessTokens,
    });
  });
}

/** POST …/revoke */
export function revokeOwnAccessToken(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async (request) => {
    await revokeAccessToken(services, readId(request, "access token"), request.user.id);
    return withNotice(patterns.accessTokens, "token_revoked");
  });
}

function AccessTokens({ tokens, now }: { tokens: OwnToken[]; now: Date }) {
  return (
    <>
      <h1>API access tokens</h1>
      <p>A token lets a script of yours use the REST API in your name, in one organization.</p>
      <p class="actions">
        <a class="button" href={patterns.newAccessToken}>
          New token
        </a>
      </p>
      {tokens.length === 0 ? (
        <p class="empty">You have no tokens yet.</p>
      ) : (
        <ul class="entries">
          {tokens.map((ownToken) => (
            <Entry key={ownToken.token.id} ownToken={ownToken} now={now} />
          ))}
        </ul>
      )}
    </>
  );
}

function Entry({ ownToken, now }: { ownToken: OwnToken; now: Date }) {
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
          Created <Time at={token.createdAt} now={now} /> · Last used:{" "}
          {token.lastUsedAt ? <Time at={token.lastUsedAt} now={now} /> : "never"} ·{" "}
          {token.expiresAt ? (
            <>
              Expires <Time at={token.expiresAt} now={now} />
            </>
          ) : (
            "No expiry"
          )}
        </p>
      </div>
      <p class="actions">
        <a class="button danger" href={pathTo(patterns.revokeAccessToken, { id: token.id })}>
          Revoke<span class="hidden"> {nameOf(ownToken)}</span>
        </a>
      </p>
    </li>
  );
}

function nameOf({ token }: OwnToken): string {
  return token.description || "Token without a name";
}
