import { defineHandler } from "h3";
import { isScope } from "../../shared/accounts/scopes.ts";
import { findPreselectedId } from "../../shared/device/authorize.ts";
import type { DeviceFlow } from "../../shared/device/flow.ts";
import { showUserCode } from "../../shared/device/user-code.ts";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import type { Services } from "../../shared/services/services.ts";
import { device } from "../../shared/settings/urls.ts";
import type { Bodies } from "../http/body.ts";
import { clientIp, userAgent } from "../http/client-address.ts";
import { limitDeviceAuthorizations } from "../http/limits/limits.ts";
import type { Clients } from "./client.ts";
import { readOAuthForm } from "./form.ts";
import { forms, parametersOf } from "./forms.ts";
import { readScopes } from "./scope.ts";

const parameters = parametersOf(forms.deviceAuthorization);

interface Parts {
  clients: Clients;
  deviceFlow: DeviceFlow;
}

/** POST /oauth/device_authorization: issues a device code and a user code (RFC 8628 §3.1). */
export function deviceAuthorization(services: Services, bodies: Bodies, { clients, deviceFlow }: Parts) {
  const { config } = services;
  const verificationUri = device.enterCode(config);
  return defineHandler(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await clients.require(event, form);
    if (!application.deviceFlow) throw new OAuthRefusal("device_flow_off");
    const scopes = requireScopes(form.get("scope"));
    const ip = clientIp(event);
    await limitDeviceAuthorizations(services, application.id, ip);

    const { deviceCode, ...issued } = await deviceFlow.authorize({
      applicationId: application.id,
      scopes,
      preselectedOrganizationId: await findPreselectedId(
        services,
        form.get("organization"),
        form.get("organization_uuid"),
      ),
      requestIp: ip,
      requestUserAgent: userAgent(event),
    });
    const userCode = showUserCode(issued.userCode);
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: verificationUri,
      verification_uri_complete: device.enterThisCode(config, userCode),
      expires_in: config.deviceCodeSeconds,
      interval: config.pollIntervalSeconds,
    };
  });
}

function requireScopes(text: string | undefined): string[] {
  const scopes = readScopes(text ?? "");
  if (scopes.length === 0) throw new OAuthRefusal("missing_scope");
  if (!scopes.every(isScope)) throw new OAuthRefusal("unknown_scope");
  return scopes;
}
