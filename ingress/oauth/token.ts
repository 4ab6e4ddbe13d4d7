import { pollDeviceCode } from "../../shared/device/device-code.ts";
import type { Application } from "../../shared/oauth/application-store.ts";
import type { IssuedTokens } from "../../shared/oauth/grants.ts";
import { refreshTokens } from "../../shared/oauth/refresh.ts";
import { type OAuthReason, OAuthRefusal } from "../../shared/oauth/refusals.ts";
import type { Services } from "../../shared/runtime/services.ts";
import type { Bodies } from "../http/body.ts";
import { catchOAuthRefusals } from "../http/errors.ts";
import { clientParameters, requireClient } from "./client.ts";
import { type Form, readOAuthForm } from "./form.ts";
import { readScopes } from "./scope.ts";

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";
const parameters = [...clientParameters, "grant_type", "device_code", "refresh_token", "scope"];

/** POST /oauth/token: a poll of a device (RFC 8628 §3.4), or a refresh (RFC 6749 §6). */
export function token(services: Services, bodies: Bodies) {
  return catchOAuthRefusals(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await requireClient(services, event, form);
    return present(await exchange(services, application, form));
  });
}

function exchange(services: Services, application: Application, form: Form): Promise<IssuedTokens> {
  switch (requireParameter(form, "grant_type", "missing_grant_type")) {
    case deviceGrantType: {
      const deviceCode = requireParameter(form, "device_code", "missing_device_code");
      return pollDeviceCode(services, application, deviceCode);
    }
    case "refresh_token": {
      const scope = form.get("scope");
      const requested = scope === undefined ? undefined : readScopes(scope);
      const refreshToken = requireParameter(form, "refresh_token", "missing_refresh_token");
      return refreshTokens(services, application, refreshToken, requested);
    }
    default:
      throw new OAuthRefusal("other_grant_type");
  }
}

function requireParameter(form: Form, name: string, reason: OAuthReason): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthRefusal(reason);
  return value;
}

/** RFC 6749 §5.1. JSON omits undefined members. */
function present({ accessToken, expiresInSeconds, refreshToken, scopes }: IssuedTokens) {
  return {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    scope: scopes.join(" "),
  };
}
