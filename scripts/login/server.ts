import * as oauth from "oauth4webapi";
import { attempt } from "./failure.ts";

const answerWithinMs = 15_000;
const userAgent = `signalbox-login (${process.platform}; Node ${process.versions.node})`;

export type Codes = oauth.DeviceAuthorizationResponse;
export type Tokens = oauth.TokenEndpointResponse;
export type Server = Awaited<ReturnType<typeof findServer>>;

/** @param ends besides a time-out, which ends every request */
export function requestOptions(...ends: AbortSignal[]) {
  const signal = AbortSignal.any([...ends, AbortSignal.timeout(answerWithinMs)]);
  return { headers: { "User-Agent": userAgent }, signal };
}

/**
 * Finds the endpoints (RFC 8414). Every call throws RequestFailed.
 * @param signal spares requests that change tokens: their answers must not be lost
 */
export async function findServer(
  { server, clientId }: { server: string; clientId: string },
  signal: AbortSignal,
) {
  const issuer = new URL(server);
  const client: oauth.Client = { client_id: clientId };
  const none = oauth.None();
  const options = (...ends: AbortSignal[]) => ({
    ...requestOptions(...ends),
    [oauth.allowInsecureRequests]: issuer.protocol === "http:",
  });
  const metadata = await attempt(server, async () => {
    const answer = await oauth.discoveryRequest(issuer, { ...options(signal), algorithm: "oauth2" });
    return oauth.processDiscoveryResponse(issuer, answer);
  });
  return {
    authorize: (scope: string, organization: string | undefined) =>
      attempt(server, async () => {
        const form = { scope, ...(organization ? { organization } : {}) };
        const answer = await oauth.deviceAuthorizationRequest(metadata, client, none, form, options(signal));
        return oauth.processDeviceAuthorizationResponse(metadata, client, answer);
      }),
    redeem: (deviceCode: string) =>
      attempt(server, async () => {
        const given = options(signal);
        const answer = await oauth.deviceCodeGrantRequest(metadata, client, none, deviceCode, given);
        return oauth.processDeviceCodeResponse(metadata, client, answer);
      }),
    refresh: (refreshToken: string) =>
      attempt(server, async () => {
        const answer = await oauth.refreshTokenGrantRequest(metadata, client, none, refreshToken, options());
        return oauth.processRefreshTokenResponse(metadata, client, answer);
      }),
    revoke: (token: string, kind: "access_token" | "refresh_token") =>
      attempt(server, async () => {
        const given = { ...options(), additionalParameters: { token_type_hint: kind } };
        const answer = await oauth.revocationRequest(metadata, client, none, token, given);
        return oauth.processRevocationResponse(answer);
      }),
  };
}
