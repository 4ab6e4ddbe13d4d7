import { getRouterParam } from "h3";
import { Fragment } from "preact";
import { listOwnAccessTokens } from "../../../shared/accounts/access-token-store.ts";
import { revokeAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Bodies } from "../../http/body.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { withNotice } from "../ui/notices.ts";
import { signedInAction, signedInPage } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";

type OwnToken = Awaited<ReturnType<typeof listOwnAccessTokens>>[number];

/** GET /user/api-access-tokens */
export function accessTokensPage(services: Services) {
  const { db, clock } = services;
  return signedInPage(services, async ({ user }) => {
    const now = clock.now();
    const tokens = await listOwnAccessTokens(db, user.id, now);
    return { title: "API access tokens", content: <AccessTokens tokens={tokens} now={now} /> };
  });
}

/** GET /user/api-access-tokens/:id/revoke */
export function revokeAccessTokenPage(services: Services) {
  const { db, clock } = services;
  return signedInPage(services, async ({ event, user, visitor }) => {
    const id = getRouterParam(event, "id") ?? "";
    const tokens = await listOwnAccessTokens(db, user.id, clock.now());
    const found = tokens.find(({ token }) => token.id === id);
    if (!found) throw notFound("access token");
    return confirmation(visitor, {
      title: "Revoke this token?",
      text: `Whatever uses “${nameOf(found)}” is refused from now on.`,
      button: "Revoke",
      path: pathTo(patterns.revokeAccessToken, { id }),
      back: patterns.accessTokens,
    });
  });
}

/** POST /user/api-access-tokens/:id/revoke */
export function revokeOwnAccessToken(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async ({ event, user }) => {
    const id = getRouterParam(event, "id") ?? "";
    if (!isId(id)) throw notFound("access token");
    await revokeAccessToken(services, id, user.id);
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
          {tokens.map((each) => (
            <Entry key={each.token.id} each={each} now={now} />
          ))}
        </ul>
      )}
    </>
  );
}

function Entry({ each, now }: { each: OwnToken; now: Date }) {
  const { token, organization } = each;
  return (
    <li class="entry">
      <div>
        <h2>{nameOf(each)}</h2>
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
          Revoke<span class="hidden"> {nameOf(each)}</span>
        </a>
      </p>
    </li>
  );
}

function nameOf({ token }: OwnToken): string {
  return token.description || "Token without a name";
}
