import { z } from "zod";
import { avatarUrl } from "../accounts/avatar.ts";
import type { User } from "../accounts/user-store.ts";
import type { Config } from "../settings/config.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { timeText } from "./time-text.ts";

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

export function presentUser(config: Config, user: User) {
  return {
    id: user.id,
    graphql_id: graphqlId("User", user.id),
    name: user.name,
    email: user.email,
    avatar_url: avatarUrl(config, user.name),
    created_at: timeText(user.createdAt),
  };
}

/** Presents the user with this id; null if there is none. */
export function presentUserById(config: Config, users: ReadonlyMap<string, User>, id: string | null) {
  const user = id === null ? undefined : users.get(id);
  return user ? presentUser(config, user) : null;
}
