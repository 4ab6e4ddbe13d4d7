import { defineHandler, type HTTPResponse } from "h3";
import { deviceGrantType } from "../../shared/device/device-code.ts";
import type { DeviceFlow } from "../../shared/device/flow.ts";
import type { Application } from "../../shared/oauth/application-store.ts";
import type { IssuedTokens } from "../../shared/oauth/grants.ts";
import { refreshTokens, requireRefreshToken } from "../../shared/oauth/refresh.ts";
import { type OAuthReason, OAuthRefusal, refusalOf } from "../../shared/oauth/refusals.ts";
import type { Services } from "../../shared/services/services.ts";
import { openOrder } from "../../shared/sharing/in-order.ts";
import { ownerOfNetwork } from "../../shared/sharing/owner.ts";
import { loopTurn } from "../../shared/sharing/resources.ts";
import type { Bodies } from "../http/body.ts";
import { clientIp } from "../http/client-address.ts";
import { limitCalls } from "../http/limits/limits.ts";
import { wideNetworkOf } from "../http/network.ts";
import { json } from "../http/respond.ts";
import type { Clients } from "./client.ts";
import { type Form, readOAuthForm } from "./form.ts";
import { forms, parametersOf } from "./forms.ts";
import { readScopes } from "./scope.ts";

const parameters = parametersOf(forms.token);

interface Parts {
  clients: Clients;
  deviceFlow: DeviceFlow;
}

/** POST /oauth/token: a poll of a device (RFC 8628 §3.4), or a refresh (RFC 6749 §6). */
export function token(services: Services, bodies: Bodies, { clients, deviceFlow }: Parts) {
  const inOrder = openOrder();
  return defineHandler(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await clients.require(event, form);
    switch (requireParameter(form, "grant_type", "missing_grant_type")) {
      case deviceGrantType: {
        const deviceCode = requireParameter(form, "device_code", "missing_device_code");
        const answer = await deviceFlow.poll(application, deviceCode);
        return typeof answer === "string" ? refuse(services, answer) : present(answer);
      }
      case "refresh_token":
        await loopTurn(ownerOfNetwork(wideNetworkOf(clientIp(event))));
        return present(await refresh(services, application, form, inOrder));
      default:
        throw new OAuthRefusal("other_grant_type");
    }
  });
}

async function refresh(
  services: Services,
  application: Application,
  form: Form,
  inOrder: ReturnType<typeof openOrder>,
): Promise<IssuedTokens> {
  const scope = form.get("scope");
  const requested = scope === undefined ? undefined : readScopes(scope);
  const refreshToken = requireParameter(form, "refresh_token", "missing_refresh_token");
  const presented = await requireRefreshToken(services, application, refreshToken);
  // Always notice a reused token: a thief must not hide it by filling the window.
  if (!presented.isReused) await limitCalls(services, "refresh", presented.grantId);
  // Each locks the row of its grant.
  return inOrder(presented.grantId, () => refreshTokens(services, application, presented, requested));
}

function requireParameter(form: Form, name: string, reason: OAuthReason): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthRefusal(reason);
  return value;
}

/** Most polls are refused, so each refusal is made once. */
const refusals = new Map<OAuthReason, HTTPResponse>();

function refuse({ metrics }: Services, reason: OAuthReason): HTTPResponse {
  const { status, error, description } = refusalOf(reason);
  metrics.oauthRefused.inc({ error });
  const known = refusals.get(reason);
  if (known) return known;
  const refusal = json(status, { error, error_description: description });
  refusals.set(reason, refusal);
  return refusal;
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
