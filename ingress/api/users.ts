import { defineHandler } from "h3";
import type { User } from "../../shared/accounts/store.ts";
import type { Config } from "../../shared/config.ts";
import { avatarUrl } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { requireCaller } from "../principal.ts";
import { graphqlId } from "./graphql-id.ts";

/** GET /v2/user: whom the token speaks for. */
export function getUserHandler(services: Services) {
  return defineHandler(async (event) => {
    const { user } = await requireCaller(services, event, "read_user");
    return presentUser(services.config, user);
  });
}

/** The user object of spec §2.4. */
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
