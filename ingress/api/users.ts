import { z } from "zod";
import type { User } from "../../shared/accounts/user-store.ts";
import { avatarUrl, patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Services } from "../../shared/runtime/services.ts";
import * as field from "./json/fields.ts";
import { graphqlId } from "./json/graphql-id.ts";
import { operation } from "./operation.ts";

/** The user object of spec §2.4. */
export const userSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    name: z.string(),
    email: z.string(),
    avatar_url: field.url,
    created_at: field.timestamp,
  })
  .meta({ id: "User" });

export function userOperations({ config }: Services) {
  return [
    operation({
      methods: ["GET"],
      path: patterns.user,
      id: "getUser",
      tag: "User",
      summary: "The user that the token speaks for",
      scope: "read_user",
      success: { status: 200, schema: userSchema, description: "The user" },
      run: async ({ caller }) => presentUser(config, caller.user),
    }),
  ];
}

export function presentUser(config: Config, user: User) {
  return {
    id: user.id,
    graphql_id: graphqlId("User", user.id),
    name: user.name,
    email: user.email,
    avatar_url: avatarUrl(config, user.name),
    created_at: user.createdAt,
  };
}
