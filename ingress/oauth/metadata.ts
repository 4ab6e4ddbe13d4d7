import { defineHandler } from "h3";
import { scopes } from "../../shared/accounts/scopes.ts";
import { deviceGrantType } from "../../shared/device/device-code.ts";
import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/settings/config.ts";
import { setHeader } from "../http/respond.ts";

const secretMethods = ["client_secret_basic", "client_secret_post"];
const allMethods = ["none", ...secretMethods];

/** GET /.well-known/oauth-authorization-server (RFC 8414), and where OpenID clients look. */
export function metadata({ authUrl }: Config) {
  const document = {
    issuer: authUrl,
    device_authorization_endpoint: authUrl + patterns.deviceAuthorization,
    token_endpoint: authUrl + patterns.token,
    revocation_endpoint: authUrl + patterns.revoke,
    introspection_endpoint: authUrl + patterns.introspect,
    grant_types_supported: [deviceGrantType, "refresh_token"],
    response_types_supported: ["none"],
    scopes_supported: scopes,
    token_endpoint_auth_methods_supported: allMethods,
    revocation_endpoint_auth_methods_supported: allMethods,
    introspection_endpoint_auth_methods_supported: secretMethods,
  };
  return defineHandler((event) => {
    setHeader(event, "Access-Control-Allow-Origin", "*");
    return document;
  });
}
