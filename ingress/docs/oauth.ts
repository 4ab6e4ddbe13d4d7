import { z } from "zod";
import { scopes } from "../../shared/accounts/scopes.ts";
import type { OAuthErrorCode } from "../../shared/oauth/refusals.ts";
import { patterns } from "../../shared/paths.ts";
import { forms } from "../oauth/forms.ts";
import type { HeaderName } from "./answers.ts";
import { type Answer, type Declaration, formType } from "./declaration.ts";
import { parserRefusal } from "./installation.ts";

const tag = "OAuth";
const errorCodes: Record<OAuthErrorCode, true> = {
  authorization_pending: true,
  slow_down: true,
  access_denied: true,
  expired_token: true,
  invalid_grant: true,
  invalid_client: true,
  invalid_scope: true,
  invalid_request: true,
  unauthorized_client: true,
  unsupported_grant_type: true,
  server_error: true,
};
const errorSchema = z
  .object({
    error: z
      .enum(Object.keys(errorCodes))
      .meta({ description: "For programs (RFC 6749 §5.2, RFC 8628 §3.5)" }),
    error_description: z.string().meta({ description: "For developers" }),
  })
  .meta({ id: "OAuthError" });

const deviceAuthorizationSchema = z.object({
  device_code: z.string().meta({ description: "For the device: it polls with it" }),
  user_code: z.string().meta({ description: "For the user: XXXX-XXXX" }),
  verification_uri: z.url().meta({ description: "Where the user enters the code" }),
  verification_uri_complete: z.url().meta({ description: "The same with the code, for a QR code" }),
  expires_in: z.int().meta({ description: "Seconds" }),
  interval: z.int().meta({ description: "Seconds between polls" }),
});

const tokenSchema = z.object({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  scope: z.string().meta({ description: "The granted scopes, with a space between them" }),
  expires_in: z.int().optional().meta({ description: "Seconds. Absent: the token does not expire" }),
  refresh_token: z.string().optional().meta({ description: "For applications that use refresh tokens" }),
});

const introspectionSchema = z.object({
  active: z.boolean().meta({ description: "False: unknown, expired, revoked or another client's" }),
  iss: z.url().optional(),
  client_id: z.string().optional(),
  sub: z.uuid().optional().meta({ description: "Id of the user" }),
  username: z.string().optional().meta({ description: "Email address of the user" }),
  scope: z.string().optional(),
  token_type: z.literal("Bearer").optional().meta({ description: "Absent for refresh tokens" }),
  iat: z.int().optional().meta({ description: "Seconds since 1970" }),
  exp: z.int().optional().meta({ description: "Seconds since 1970" }),
});

const metadataSchema = z.object({
  issuer: z.url(),
  device_authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  introspection_endpoint: z.url(),
  grant_types_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  scopes_supported: z.array(z.enum(scopes)),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  introspection_endpoint_auth_methods_supported: z.array(z.string()),
});

function refusal(description: string, headers: HeaderName[] = []): Answer {
  return { description, schema: errorSchema, headers };
}

const refusals: Record<string, Answer> = {
  "400": refusal("The request is refused: see `error`"),
  "401": refusal("`invalid_client`: the client is unknown or disabled, or its secret is wrong", [
    "WWW-Authenticate",
  ]),
  "429": refusal("Too many attempts: wait as Retry-After says", ["Retry-After"]),
  "503": refusal("`server_error`: wait as Retry-After says", ["Retry-After"]),
};

function post(
  path: string,
  form: z.ZodType,
  rest: Pick<Declaration, "id" | "summary" | "description" | "security"> & { success: Answer },
): Declaration {
  const { success, ...described } = rest;
  return {
    methods: ["POST"],
    path,
    tag,
    server: "authUrl",
    body: { schema: form, mediaType: formType },
    answers: { "200": success, ...refusals },
    ...described,
  };
}

const anyClient: Declaration["security"] = ["none", "client"];

export const oauthDeclarations: Declaration[] = [
  post(patterns.deviceAuthorization, forms.deviceAuthorization, {
    id: "authorizeDevice",
    summary: "Start the device flow (RFC 8628)",
    description: "The device shows the code and the address to its user, then polls for its token.",
    security: anyClient,
    success: { description: "The codes", schema: deviceAuthorizationSchema, headers: [] },
  }),
  post(patterns.token, forms.token, {
    id: "issueToken",
    summary: "Poll for a device's token, or refresh a token",
    description:
      "A poll answers `authorization_pending` until the user decides, and `slow_down` if it comes too soon: the interval then grows by 5 seconds.",
    security: anyClient,
    success: { description: "The tokens", schema: tokenSchema, headers: [] },
  }),
  post(patterns.revoke, forms.revoke, {
    id: "revokeToken",
    summary: "Revoke a token (RFC 7009)",
    description: "The answer is the same for an unknown token.",
    security: anyClient,
    success: { description: "The token is not valid, or no longer", headers: [] },
  }),
  post(patterns.introspect, forms.introspect, {
    id: "introspectToken",
    summary: "Inspect a token (RFC 7662)",
    description: "For confidential clients, of their own tokens.",
    security: ["client", "none"],
    success: { description: "The token", schema: introspectionSchema, headers: [] },
  }),
  ...metadata(patterns.oauthMetadata, "getOAuthMetadata", "The OAuth endpoints (RFC 8414)"),
  ...metadata(patterns.openidConfiguration, "getOpenIdConfiguration", "The same, where OpenID clients look"),
];

function metadata(path: string, id: string, summary: string): Declaration[] {
  const success = { description: "The metadata", schema: metadataSchema, headers: [] };
  return [
    {
      methods: ["GET"],
      path,
      id,
      tag,
      summary,
      security: [],
      server: "authUrl",
      answers: { "200": success, ...parserRefusal },
    },
  ];
}
