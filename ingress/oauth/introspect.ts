import { defineHandler } from "h3";
import type { Application } from "../../shared/oauth/application-store.ts";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import { type ActiveToken, inspectToken } from "../../shared/oauth/tokens.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Bodies } from "../http/body.ts";
import type { Clients } from "./client.ts";
import { readOAuthForm } from "./form.ts";
import { forms, parametersOf } from "./forms.ts";

const parameters = parametersOf(forms.introspect);

/** POST /oauth/introspect: describes a token of the client (RFC 7662). */
export function introspect(services: Services, bodies: Bodies, clients: Clients) {
  return defineHandler(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await clients.requireConfidential(event, form);
    const token = form.get("token");
    if (token === undefined) throw new OAuthRefusal("missing_token");

    const active = await inspectToken(services, application, token);
    return active ? present(services.config.authUrl, application, active) : { active: false };
  });
}

function present(issuer: string, { clientId }: Application, token: ActiveToken) {
  return {
    active: true,
    iss: issuer,
    client_id: clientId,
    sub: token.user.id,
    username: token.user.email,
    scope: token.scopes.join(" "),
    token_type: token.kind === "access" ? "Bearer" : undefined,
    iat: unixSeconds(token.issuedAt),
    exp: token.expiresAt ? unixSeconds(token.expiresAt) : undefined,
  };
}

function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
