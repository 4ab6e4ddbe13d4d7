import { defineHandler } from "h3";
import { revokeAccessToken } from "../../shared/accounts/access-tokens.ts";
import type { Services } from "../../shared/services.ts";
import { requireCaller } from "../principal.ts";
import { noContent } from "../respond.ts";

/** GET /v2/access-token: the token that the request is made with. Any token may. */
export function getAccessTokenHandler(services: Services) {
  return defineHandler(async (event) => {
    const { token, user } = await requireCaller(services, event);
    return {
      uuid: token.id,
      scopes: token.scopes,
      description: token.description,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      user: { name: user.name, email: user.email },
    };
  });
}

/** DELETE /v2/access-token: revoke it, so that the very next request with it is refused. */
export function deleteAccessTokenHandler(services: Services) {
  return defineHandler(async (event) => {
    const { token } = await requireCaller(services, event);
    await revokeAccessToken(services, token.id);
    return noContent();
  });
}
