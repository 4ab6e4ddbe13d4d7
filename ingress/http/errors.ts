import type { H3Event, HTTPError, HTTPResponse } from "h3";
import { BlobsUnavailable } from "../../shared/blobs/blobs.ts";
import { DatabaseUnavailable, rootCause, translateError } from "../../shared/db/database.ts";
import { oauthErrorBody } from "../../shared/oauth/refusals.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal, retryAfter, unavailable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import { isOAuthPath, requestId } from "./request-context.ts";
import { json, setHeader, setHeaders, stageLength } from "./respond.ts";
import { ClientDisconnected } from "./transfers/upload.ts";

/** Paths with JSON errors. */
const programPaths = /^\/(v2|v3|deliver|oauth(?!\/device(\/|$))|\.well-known|healthz|readyz)(\/|$)/;

/** Answers a refused request of a person. */
type ErrorPage = (services: Services, event: H3Event, refusal: Refusal) => Promise<HTTPResponse>;

/** Renders a thrown error as an OAuth error, a JSON message or an error page. Bugs show a plain 500. */
export function renderErrors(services: Services, errorPage: ErrorPage) {
  const render = (error: HTTPError, event: H3Event): HTTPResponse | Promise<HTTPResponse> => {
    setHeader(event, "X-Request-Id", requestId(event));
    const refusal = toRefusal(services, error, event);
    if (refusal instanceof DeliveryRefusal) return answerDeliveryRefusal(services, event, refusal);
    setHeaders(event, refusal.headers);
    if (isOAuthPath(event)) return oauthError(services, event, refusal);
    return programPaths.test(event.url.pathname) ? jsonError(refusal) : errorPage(services, event, refusal);
  };
  return async (error: HTTPError, event: H3Event): Promise<HTTPResponse> => {
    const answer = await render(error, event);
    return event.req.method === "HEAD" ? stageLength(event, answer) : answer;
  };
}

/** For a handler that catches the refusal itself: the framework would wrap it in an error with a stack. */
export function answerDeliveryRefusal(
  { metrics }: Services,
  event: H3Event,
  refusal: DeliveryRefusal,
): HTTPResponse {
  metrics.deliveriesRefused.inc({ cause: refusal.refusalCause });
  setHeaders(event, refusal.headers);
  return jsonError(refusal);
}

function jsonError({ status, message, details }: Refusal): HTTPResponse {
  return json(status, { message, ...details });
}

/** Any failure of ours is a 503, so that clients try again. */
function oauthError({ metrics }: Services, event: H3Event, refusal: Refusal): HTTPResponse {
  const { status } = refusal;
  if (status >= 500) setHeaders(event, retryAfter());
  const isPoll = event.url.pathname.startsWith(patterns.token);
  const body = oauthErrorBody(refusal, isPoll);
  metrics.oauthRefused.inc({ error: body.error });
  return json(status >= 500 ? 503 : status, body);
}

function toRefusal(services: Services, error: HTTPError, event: H3Event): Refusal {
  const thrown = error.cause instanceof Error ? error.cause : error;
  if (thrown instanceof Refusal) return thrown;
  // Node names an error of its own as the reason if nobody has read the request to its end.
  const isOfLeaving = thrown.name === "AbortError" || thrown === event.req.signal.reason;
  if (thrown instanceof ClientDisconnected || isOfLeaving)
    return new Refusal(499, "Client closed the connection");
  if (!error.unhandled) return routingRefusal(error, event);

  const cause = rootCause(thrown);
  if (cause instanceof Refusal) return cause; // of a query that may not wait for its turn
  const id = requestId(event);
  if (translateError(thrown) instanceof DatabaseUnavailable) {
    services.writeHealth.recordDamage(thrown);
    services.log.error({ err: thrown, requestId: id }, "the database is unavailable");
    return unavailable();
  }
  if (thrown instanceof BlobsUnavailable) {
    services.log.error({ err: thrown, requestId: id }, "the store of artifacts is unavailable");
    return unavailable();
  }
  services.log.error({ err: thrown, requestId: id }, "unexpected error");
  return new Refusal(500, "Something went wrong on our side. The request id helps to find out what.");
}

/** No route matches, or the path has a broken percent escape. */
function routingRefusal(error: HTTPError, event: H3Event): Refusal {
  if (error.status === 404) return new Refusal(404, "Not Found");
  if (event.url.pathname.startsWith("/deliver/")) return new DeliveryRefusal("invalid_token");
  return new Refusal(error.status, "The address is malformed");
}
