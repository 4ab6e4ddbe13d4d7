import { defineHandler } from "h3";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import { revokeToken } from "../../shared/oauth/tokens.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Bodies } from "../http/body.ts";
import type { Clients } from "./client.ts";
import { readOAuthForm } from "./form.ts";
import { forms, parametersOf } from "./forms.ts";

const parameters = parametersOf(forms.revoke);

/** POST /oauth/revoke: revokes a token. Answers 200 for an unknown token too (RFC 7009 §2.2). */
export function revoke(services: Services, bodies: Bodies, clients: Clients) {
  return defineHandler(async (event) => {
    const form = await readOAuthForm(event, bodies, parameters);
    const application = await clients.require(event, form);
    const token = form.get("token");
    if (token === undefined) throw new OAuthRefusal("missing_token");

    await revokeToken(services, application, token);
    return "";
  });
}
