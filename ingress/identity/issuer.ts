import { defineHandler } from "h3";
import { allNames } from "../../shared/identity/claims.ts";
import type { SigningKeys } from "../../shared/identity/keys.ts";
import { signingAlgorithm } from "../../shared/identity/rotation.ts";
import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/settings/config.ts";
import { issuerOf } from "../../shared/settings/urls.ts";
import { setHeaders } from "../http/respond.ts";

/** Much less than the time for which a key is shown before it signs. */
const caching = "public, max-age=300";
const headers = { "Cache-Control": caching, "Access-Control-Allow-Origin": "*" };

/** GET /v3/.well-known/openid-configuration (OpenID Connect Discovery 1.0): for those who check identity tokens. */
export function issuerMetadata(config: Config) {
  const document = {
    issuer: issuerOf(config),
    jwks_uri: config.baseUrl + patterns.issuerKeys,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [signingAlgorithm],
    scopes_supported: ["openid"],
    claims_supported: ["iss", "sub", "aud", "iat", "nbf", "exp", ...allNames.split(", ")],
  };
  return defineHandler((event) => {
    setHeaders(event, headers);
    return document;
  });
}

/** GET /v3/.well-known/jwks (RFC 7517). A key is here before its first token, and until its last has ended. */
export function issuerKeys(keys: SigningKeys) {
  return defineHandler(async (event) => {
    const shown = await keys.shown();
    setHeaders(event, headers); // not on refusals
    return { keys: shown };
  });
}
