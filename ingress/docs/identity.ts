import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import type { Declaration } from "./declaration.ts";
import { parserRefusal } from "./installation.ts";

const metadataSchema = z.object({
  issuer: z.url().meta({ description: "`iss` of the tokens" }),
  jwks_uri: z.url().meta({ description: "The key set" }),
  response_types_supported: z.array(z.string()),
  subject_types_supported: z.array(z.string()),
  id_token_signing_alg_values_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  claims_supported: z.array(z.string()),
});
const keySetSchema = z.object({
  keys: z.array(
    z.object({
      kid: field.id.meta({ description: "`kid` of the tokens that it signed" }),
      kty: z.literal("RSA"),
      alg: z.literal("RS256"),
      use: z.literal("sig"),
      n: z.string(),
      e: z.string(),
    }),
  ),
});

const shared = {
  methods: ["GET"],
  tag: "Agent API",
  security: [],
  server: "baseUrl",
} satisfies Partial<Declaration>;

/** Addresses for those who check the identity tokens of jobs. They need no token. */
export const identityDeclarations: Declaration[] = [
  {
    ...shared,
    path: patterns.issuerMetadata,
    id: "getIssuerMetadata",
    summary: "The issuer of identity tokens (OpenID Connect Discovery)",
    answers: {
      "200": { description: "The metadata", schema: metadataSchema, headers: [] },
      ...parserRefusal,
    },
  },
  {
    ...shared,
    path: patterns.issuerKeys,
    id: "getIssuerKeys",
    summary: "The keys that prove identity tokens (RFC 7517)",
    description: "A key is here an hour before its first token, and until its last one has ended.",
    answers: {
      "200": { description: "The key set", schema: keySetSchema, headers: [] },
      "503": {
        description: "Temporarily unavailable: wait as Retry-After says",
        schema: field.problem,
        headers: ["Retry-After"],
      },
      ...parserRefusal,
    },
  },
];
