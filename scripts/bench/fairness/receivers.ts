import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { newNotificationService } from "../../../shared/notifications/members.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import type { Services } from "../../../shared/services/services.ts";
import { freePort } from "../../scratch/ports.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Owner } from "../servers/tenant.ts";

// Receivers of messages. Each of the victim answers at once, and none of the attacker does as it should.

const behaviours: Record<string, (response: ServerResponse) => void> = {
  good: (response) => response.end("thanks"),
  hanging: () => {},
  async slow(response) {
    response.writeHead(200, { "Content-Length": 1000 });
    while (!response.destroyed) {
      response.write("x");
      await sleep(1000);
    }
  },
  limited: (response) => response.writeHead(429, { "Retry-After": "2" }).end(),
  broken: (response) => response.writeHead(500).end(),
  closing: (response) => response.destroy(),
  redirecting: (response) => response.writeHead(301, { Location: "/hanging" }).end(),
};
/** Nobody listens at the address of `down`. */
const bad = ["down", "hanging", "slow", "limited", "broken", "closing", "redirecting"];
/** As many as an organization may have. */
const badServices = 20;

export type Receivers = Awaited<ReturnType<typeof openReceivers>>;

export async function openReceivers(scratch: Scratch) {
  let told = 0;
  const server = createServer((request, response) => {
    const [, name = ""] = (request.url ?? "").split("/");
    request.resume().on("end", () => {
      if (name === "good") told++;
      behaviours[name]?.(response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  scratch.onClose(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const down = `http://127.0.0.1:${await freePort()}`;
  const add = (services: Services, { operator }: Owner, target: string) =>
    createNotificationService(
      services,
      operator,
      newNotificationService.parse({ provider: "webhook", settings: { url: target } }),
    );
  return {
    /** Counts the messages to the victim. */
    countTold: () => told,
    /** Gives an organization its services. */
    async addServices(services: Services, owner: Owner, isAttacker: boolean): Promise<void> {
      if (!isAttacker) await add(services, owner, `${url}/good`);
      else
        for (let count = 0; count < badServices; count++) {
          const name = bad[count % bad.length] ?? "";
          await add(services, owner, `${name === "down" ? down : url}/${name}/${count}`);
        }
    },
  };
}
