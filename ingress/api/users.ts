import { patterns } from "../../shared/paths.ts";
import { presentUser, userSchema } from "../../shared/presenters/user.ts";
import type { Services } from "../../shared/services/services.ts";
import { operation } from "../operations/operation.ts";

export function userOperations({ config }: Services) {
  return [
    operation({
      methods: ["GET"],
      path: patterns.user,
      id: "getUser",
      tag: "User",
      summary: "The user of the token",
      scope: "read_user",
      success: { status: 200, schema: userSchema, description: "The user" },
      run: async ({ caller }) => presentUser(config, caller.user),
    }),
  ];
}
