import { Refusal } from "../refusal.ts";

/** The error codes of the OAuth endpoints (RFC 6749 §5.2, RFC 8628 §3.5). */
export type OAuthErrorCode =
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token"
  | "invalid_grant"
  | "invalid_client"
  | "invalid_scope"
  | "invalid_request"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "server_error";

/** The code is for programs, the sentence for developers. */
const reasons = {
  not_a_form: ["invalid_request", "The body must be application/x-www-form-urlencoded"],
  body_too_large: ["invalid_request", "The body is larger than 64 KB"],
  repeated_parameter: ["invalid_request", "A parameter is given more than once"],
  two_credentials: ["invalid_request", "The client must use one authentication method only"],
  missing_grant_type: ["invalid_request", "The parameter grant_type is missing"],
  missing_device_code: ["invalid_request", "The parameter device_code is missing"],
  missing_refresh_token: ["invalid_request", "The parameter refresh_token is missing"],
  missing_token: ["invalid_request", "The parameter token is missing"],
  missing_client_id: ["invalid_client", "The parameter client_id is missing"],
  bad_client: ["invalid_client", "The client is unknown or disabled, or its secret is missing or wrong"],
  other_client: ["invalid_client", "The token was not issued to this client"],
  not_confidential: ["invalid_client", "Only a confidential client may use this endpoint"],
  device_flow_off: ["unauthorized_client", "The client may not use the device flow"],
  refresh_off: ["unauthorized_client", "The client may not use refresh tokens"],
  other_grant_type: [
    "unsupported_grant_type",
    "The supported grant types are urn:ietf:params:oauth:grant-type:device_code and refresh_token",
  ],
  missing_scope: ["invalid_scope", "The parameter scope must name at least one scope"],
  unknown_scope: ["invalid_scope", "A requested scope does not exist"],
  wider_scope: ["invalid_scope", "A requested scope was not granted"],
  pending: ["authorization_pending", "The user has not decided yet"],
  too_fast: ["slow_down", "Polled too soon: wait 5 seconds longer between polls from now on"],
  denied: ["access_denied", "The user denied the request"],
  withdrawn: ["access_denied", "The user approved the request, but access was withdrawn before it was used"],
  expired: ["expired_token", "The device code has expired: ask for a new one"],
  bad_device_code: ["invalid_grant", "The device code is unknown or was used already"],
  bad_refresh_token: ["invalid_grant", "The refresh token is unknown, expired, used or revoked"],
} as const satisfies Record<string, readonly [OAuthErrorCode, string]>;

export type OAuthReason = keyof typeof reasons;

/** An expected refusal, for callers that branch on it: an `OAuthRefusal` with its stack costs a fifth of a poll. */
export function refusalOf(reason: OAuthReason): {
  status: number;
  error: OAuthErrorCode;
  description: string;
} {
  const [error, description] = reasons[reason];
  // The client itself is known: only its authentication would be 401 (RFC 6749 §5.2).
  const isUnauthenticated = error === "invalid_client" && reason !== "other_client";
  return { status: isUnauthenticated ? 401 : 400, error, description };
}

/** A refused OAuth request. The response body is `{error, error_description}`. */
export class OAuthRefusal extends Refusal {
  readonly error: OAuthErrorCode;

  constructor(reason: OAuthReason, more: { headers?: Record<string, string> } = {}) {
    const { status, error, description } = refusalOf(reason);
    super(status, description, more);
    this.error = error;
  }
}

/** Never changes, unlike the sentence of a 429 for people: the header says how long to wait. */
const tooManyAttempts = "Too many attempts: wait as long as Retry-After says";

/** Returns the response body of an OAuth endpoint for any refusal. */
export function oauthErrorBody(
  refusal: Refusal,
  isPoll: boolean,
): { error: OAuthErrorCode; error_description: string } {
  const { status, message } = refusal;
  if (refusal instanceof OAuthRefusal) return { error: refusal.error, error_description: message };
  if (status === 429)
    return { error: isPoll ? "slow_down" : "server_error", error_description: tooManyAttempts };
  return { error: status < 500 ? "invalid_request" : "server_error", error_description: message };
}
