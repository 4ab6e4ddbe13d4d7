import {
  allowInsecureRequests,
  type Client,
  type DeviceAuthorizationResponse,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  discoveryRequest,
  None,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import type { Clock } from "../../shared/process/clock.ts";
import { toFailure } from "./failure.ts";

const answerWithinMs = 15_000;
/** If the server names none (RFC 8628 §3.2). */
const defaultIntervalSeconds = 5;
export const userAgent = `signalbox-login (${process.platform}; Node ${process.versions.node})`;

export interface Codes {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  verificationUriComplete: string | undefined;
  expiresAt: Date;
  intervalMs: number;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string | undefined;
  /** Undefined: as requested (RFC 6749 §5.1). */
  scope: string | undefined;
  /** Null: the server names no expiry. */
  expiresAt: Date | null;
}

/** Every call throws RequestFailed. */
export interface Server {
  authorize(scope: string, organization: string | undefined): Promise<Codes>;
  redeem(deviceCode: string): Promise<Tokens>;
  refresh(refreshToken: string): Promise<Tokens>;
  revoke(token: string, kind: "access_token" | "refresh_token"): Promise<void>;
}

/**
 * Finds the endpoints (RFC 8414).
 * @param signal spares requests that change tokens: their answers must not be lost
 * @throws RequestFailed
 */
export async function findServer(
  at: { server: string; clientId: string },
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Server> {
  const issuer = new URL(at.server);
  const client: Client = { client_id: at.clientId };
  const options = (...ends: AbortSignal[]) => ({
    headers: { "User-Agent": userAgent },
    signal: AbortSignal.any([...ends, AbortSignal.timeout(answerWithinMs)]),
    [allowInsecureRequests]: issuer.protocol === "http:",
  });
  const attempt = async <T>(request: Promise<Response>, read: (response: Response) => Promise<T>) => {
    try {
      return await read(await request);
    } catch (error) {
      throw toFailure(error, at.server);
    }
  };

  const metadata = await attempt(
    discoveryRequest(issuer, { ...options(signal), algorithm: "oauth2" }),
    (response) => processDiscoveryResponse(issuer, response),
  );
  return {
    async authorize(scope, organization) {
      const parameters = new URLSearchParams({ scope, ...(organization ? { organization } : {}) });
      const request = deviceAuthorizationRequest(metadata, client, None(), parameters, options(signal));
      const read = (response: Response) => processDeviceAuthorizationResponse(metadata, client, response);
      return toCodes(clock, await attempt(request, read));
    },
    async redeem(deviceCode) {
      const request = deviceCodeGrantRequest(metadata, client, None(), deviceCode, options(signal));
      const read = (response: Response) => processDeviceCodeResponse(metadata, client, response);
      return toTokens(clock, await attempt(request, read));
    },
    async refresh(refreshToken) {
      const request = refreshTokenGrantRequest(metadata, client, None(), refreshToken, options());
      const read = (response: Response) => processRefreshTokenResponse(metadata, client, response);
      return toTokens(clock, await attempt(request, read));
    },
    revoke(token, kind) {
      const hint = { additionalParameters: { token_type_hint: kind } };
      const request = revocationRequest(metadata, client, None(), token, { ...options(), ...hint });
      return attempt(request, processRevocationResponse);
    },
  };
}

function toCodes(clock: Clock, answer: DeviceAuthorizationResponse): Codes {
  return {
    deviceCode: answer.device_code,
    userCode: answer.user_code,
    verificationUri: answer.verification_uri,
    verificationUriComplete: answer.verification_uri_complete,
    expiresAt: inSeconds(clock, answer.expires_in),
    intervalMs: (answer.interval ?? defaultIntervalSeconds) * 1000,
  };
}

function toTokens(clock: Clock, answer: TokenEndpointResponse): Tokens {
  const { access_token, refresh_token, scope, expires_in } = answer;
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    scope,
    expiresAt: expires_in === undefined ? null : inSeconds(clock, expires_in),
  };
}

function inSeconds(clock: Clock, seconds: number): Date {
  return new Date(clock.now().getTime() + seconds * 1000);
}
