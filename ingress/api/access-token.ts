import { z } from "zod";
import { revokeAccessToken } from "../../shared/accounts/access-tokens.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/runtime/services.ts";
import * as field from "./json/fields.ts";
import { operation } from "./operation.ts";

const accessTokenSchema = z
  .object({
    uuid: field.id,
    scopes: z.array(z.string()),
    description: z.string(),
    created_at: field.timestamp,
    expires_at: field.timestamp.nullable(),
    user: z.object({ name: z.string(), email: z.string() }),
  })
  .meta({ id: "AccessToken" });

export function accessTokenOperations(services: Services) {
  return [
    operation({
      methods: ["GET"],
      path: patterns.accessToken,
      id: "getAccessToken",
      tag: "Access token",
      summary: "The token that the request is made with",
      success: { status: 200, schema: accessTokenSchema, description: "The token, without its secret" },
      run: async ({ caller: { token, user } }) => ({
        uuid: token.id,
        scopes: token.scopes,
        description: token.description,
        created_at: token.createdAt,
        expires_at: token.expiresAt,
        user: { name: user.name, email: user.email },
      }),
    }),
    operation({
      methods: ["DELETE"],
      path: patterns.accessToken,
      id: "revokeAccessToken",
      tag: "Access token",
      summary: "Revoke the token that the request is made with",
      success: { status: 204, description: "The very next request with it is refused" },
      run: ({ caller }) => revokeAccessToken(services, caller.token.id),
    }),
  ];
}
