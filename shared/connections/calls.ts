import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import type { Services } from "../services/services.ts";
import { pathOf } from "../sources/providers.ts";
import type { HostApi, HostRequest } from "./hosts/api.ts";
import { hostApis } from "./hosts/apis.ts";
import type { Connection } from "./store.ts";
import { apiUrlOf, type ConnectionType } from "./types.ts";

/** A repository at its host, and how to call it. */
export interface Target {
  api: HostApi;
  /** As the host's paths name it. */
  repository: string;
  /** @throws OutgoingProblem */
  send(request: HostRequest): Promise<OutgoingAnswer>;
}

/** Undefined without a token, and for an address that names no repository of the host. */
export function targetOf(
  { outgoing, cipher }: Pick<Services, "outgoing" | "cipher">,
  connection: Connection,
  address: string,
): Target | undefined {
  const { id, tokenSealed } = connection;
  const api = hostApis[connection.type as ConnectionType];
  const repository = api.repository(pathWithin(connection, address));
  if (tokenSealed === null || repository === undefined) return undefined;
  return {
    api,
    repository,
    async send({ method, path, body }) {
      const headers = api.headers(cipher.open(tokenSealed, sealedPlaces.tokenOfConnection(id)));
      return outgoing.send({
        method,
        url: apiUrlOf(connection) + path,
        headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    },
  };
}

/** The path of a repository, without that of the host's own address, such as `gitlab` of https://example.com/gitlab. */
function pathWithin({ url }: Connection, address: string): string {
  const path = pathOf(address) ?? "";
  const start = new URL(url).pathname.replace(/^\/|\/$/g, "");
  return start !== "" && /^https?:/.test(address) && path.startsWith(`${start}/`)
    ? path.slice(start.length + 1)
    : path;
}
