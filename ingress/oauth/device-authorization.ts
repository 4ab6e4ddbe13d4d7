import { defineHandler } from "h3";
import { isScope } from "../../shared/accounts/scopes.ts";
import { authorizeDevice } from "../../shared/device/device-code.ts";
import { showUserCode } from "../../shared/device/user-code.ts";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { device } from "../../shared/urls.ts";
import type { Bodies } from "../http/body.ts";
import { clientIp, userAgent } from "../http/client-address.ts";
import { limitDeviceAuthorizations } from "../http/limits.ts";
import { clientParameters, requireClient } from "./client.ts";
import { readOAuthForm } from "./form.ts";
import { readScopes } from "./scope.ts";

const parameters = [...clientParameters, "scope", "organization", "organization_uuid"];

/** POST /oauth/device_authorization: issues a device code and a user code (RFC 8628 §3.1). */
export function deviceAuthorization(services: Services, bodies: Bodies) {
  const { config } = services;
  return defineHandler(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await requireClient(services, event, form);
    if (!application.deviceFlow) throw new OAuthRefusal("device_flow_off");
    const scopes = requireScopes(form.get("scope"));
    const ip = clientIp(event);
    await limitDeviceAuthorizations(services, application.id, ip);

    const codes = await authorizeDevice(services, application, {
      scopes,
      organization: form.get("organization"),
      organizationId: form.get("organization_uuid"),
      ip,
      userAgent: userAgent(event),
    });
    const userCode = showUserCode(codes.userCode);
    return {
      device_code: codes.deviceCode,
      user_code: userCode,
      verification_uri: device.enterCode(config),
      verification_uri_complete: device.enterThisCode(config, userCode),
      expires_in: codes.expiresInSeconds,
      interval: codes.intervalSeconds,
    };
  });
}

function requireScopes(text: string | undefined): string[] {
  const scopes = readScopes(text ?? "");
  if (scopes.length === 0) throw new OAuthRefusal("missing_scope");
  if (!scopes.every(isScope)) throw new OAuthRefusal("unknown_scope");
  return scopes;
}
