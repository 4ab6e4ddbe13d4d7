import { revokeOwnToken } from "../../shared/oauth/tokens.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services/services.ts";
import { operation } from "../operations/operation.ts";
import { accessTokenSchema, presentAccessToken } from "./json/access-token.ts";

export function accessTokenOperations(services: Services) {
  return [
    operation({
      methods: ["GET"],
      path: patterns.accessToken,
      id: "getAccessToken",
      tag: "Access token",
      summary: "The token that the request is made with",
      success: { status: 200, schema: accessTokenSchema, description: "The token, without its secret" },
      run: async ({ caller }) => presentAccessToken(caller),
    }),
    operation({
      methods: ["DELETE"],
      path: patterns.accessToken,
      id: "revokeAccessToken",
      tag: "Access token",
      summary: "Revoke the token that the request is made with, and its grant if an application has it",
      success: { status: 204, description: "The very next request with it is refused" },
      run: ({ caller }) => revokeOwnToken(services, caller.token),
    }),
  ];
}
