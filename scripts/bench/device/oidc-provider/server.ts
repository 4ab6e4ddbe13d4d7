import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { deviceGrantType } from "../../../../shared/device/device-code.ts";
import { freePort } from "../../../scratch/ports.ts";
import { client } from "../../servers/tenant.ts";
import { deviceCodeSeconds, type Progress } from "../codes.ts";
import { MapAdapter } from "./map-adapter.ts";

// Plain oidc-provider: one public client, all in memory, no log.

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const accountId = "bench-user";
const scope = client.scopes.join(" ");
const hourSeconds = 3600;

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const provider = new Provider(url, {
  adapter: MapAdapter,
  clients: [
    {
      client_id: client.id,
      token_endpoint_auth_method: "none",
      grant_types: [deviceGrantType],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: "ES256",
    },
  ],
  scopes: client.scopes,
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: false } },
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  ttl: { DeviceCode: deviceCodeSeconds, AccessToken: hourSeconds, Grant: hourSeconds },
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "bench" }] },
  cookies: { keys: [randomBytes(24).toString("hex")] },
});

/** @returns its address */
export async function listen(): Promise<string> {
  await once(createServer(provider.callback()).listen(port, "127.0.0.1"), "listening");
  return url;
}

/** Makes codes past the endpoints. */
export async function makeCodes(progress: Progress, count: number): Promise<string[]> {
  const codes: string[] = [];
  for (let made = 0; made < count; made++)
    codes.push(await makeCode(progress === "approved" ? await approval() : {}));
  return codes;
}

/** Stores the same as the endpoint, and for an approval as the pages. */
async function makeCode(approval: object): Promise<string> {
  const code = new provider.DeviceCode({
    client: await provider.Client.find(client.id),
    deviceInfo: {},
    params: { client_id: client.id, scope },
    userCode: randomBytes(8).toString("hex").toUpperCase(),
    ...approval,
  });
  return code.save();
}

async function approval(): Promise<object> {
  const grant = new provider.Grant({ accountId, clientId: client.id });
  grant.addOIDCScope(scope);
  return { accountId, scope, grantId: await grant.save(), authTime: Math.floor(Date.now() / 1000) };
}
