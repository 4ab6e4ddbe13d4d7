import { z } from "zod";
import type { TokenHolder } from "../../../shared/accounts/access-token-store.ts";
import * as field from "../../../shared/presenters/fields.ts";

export const accessTokenSchema = z
  .object({
    uuid: field.id,
    scopes: z.array(z.string()),
    description: z.string(),
    created_at: field.timestamp,
    expires_at: field.timestamp.nullable(),
    user: z.object({ name: z.string(), email: z.string() }),
  })
  .meta({ id: "AccessToken" });

export function presentAccessToken({ token, user }: TokenHolder) {
  return {
    uuid: token.id,
    scopes: token.scopes,
    description: token.description,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    user: { name: user.name, email: user.email },
  };
}
