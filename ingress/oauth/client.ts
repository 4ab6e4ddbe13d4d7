import { timingSafeEqual } from "node:crypto";
import type { H3Event } from "h3";
import { hashToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import type { Application } from "../../shared/oauth/application-store.ts";
import { findEnabledApplication } from "../../shared/oauth/applications.ts";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import type { Services } from "../../shared/services/services.ts";
import { readOnce } from "../../shared/sharing/gatherer.ts";
import { clientIp } from "../http/client-address.ts";
import { limitClientFailures } from "../http/limits/limits.ts";
import type { Form } from "./form.ts";

/** From the form or from HTTP Basic, never both. */
interface Credentials {
  id: string;
  secret: string | undefined;
  isBasic: boolean;
}

/** Authenticates clients (RFC 6749 §2.3). Reads each at most once a turn of the event loop. */
export class Clients {
  readonly #services: Services;
  readonly #findApplication: (clientId: string) => Promise<Application | undefined>;

  constructor(services: Services) {
    this.#services = services;
    this.#findApplication = readOnce((clientId) => findEnabledApplication(services, clientId));
  }

  /**
   * Limits failures by client and IP address.
   * @throws OAuthRefusal invalid_client, invalid_request; Refusal 429
   */
  async require(event: H3Event, form: Form): Promise<Application> {
    const realm = this.#services.config.serviceName;
    const credentials = readCredentials(event, form, realm);
    const application = await this.#findApplication(credentials.id);
    if (application?.secretHash === null) {
      if (!credentials.isBasic) return application;
      // Not counted: some clients try Basic with an empty secret first on every poll.
      if (!credentials.secret) throw badClient(credentials, realm);
    }
    // Before the limit: others' failures must not lock out a client. Nobody guesses 256 bits.
    if (application && isSecretOf(application, credentials.secret)) return application;
    await limitClientFailures(this.#services, application?.id, clientIp(event));
    throw badClient(credentials, realm);
  }

  /** Like `require`, but refuses public clients. */
  async requireConfidential(event: H3Event, form: Form): Promise<Application> {
    const application = await this.require(event, form);
    if (application.secretHash === null) throw new OAuthRefusal("not_confidential");
    return application;
  }
}

function readCredentials(event: H3Event, form: Form, realm: string): Credentials {
  const formId = form.get("client_id");
  const header = event.req.headers.get("authorization");
  if (header !== null) {
    const basic = readBasic(header);
    if (form.has("client_secret")) throw new OAuthRefusal("two_credentials");
    if (!basic || (formId !== undefined && formId !== basic.id)) throw badClient({ isBasic: true }, realm);
    return { ...basic, isBasic: true };
  }
  if (formId === undefined) throw new OAuthRefusal("missing_client_id");
  return { id: formId, secret: form.get("client_secret"), isBasic: false };
}

/** Both parts are form-encoded (RFC 6749 §2.3.1). */
function readBasic(header: string): { id: string; secret: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 1) return undefined;
  try {
    const decode = (part: string) => decodeURIComponent(part.replaceAll("+", " "));
    return { id: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

function isSecretOf(application: Application, secret: string | undefined): boolean {
  if (!application.secretHash || !secret || !isWellFormedToken("clientSecret", secret)) return false;
  return timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(application.secretHash));
}

/** WWW-Authenticate breaks clients that do not use HTTP Basic (RFC 6749 §5.2). */
function badClient({ isBasic }: Pick<Credentials, "isBasic">, realm: string): OAuthRefusal {
  return new OAuthRefusal(
    "bad_client",
    isBasic ? { headers: { "WWW-Authenticate": `Basic realm="${realm}"` } } : {},
  );
}
