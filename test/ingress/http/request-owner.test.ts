import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { H3 } from "h3";
import type { Authenticators, CallerKind } from "../../../ingress/auth/callers.ts";
import type { Bodies } from "../../../ingress/http/body.ts";
import { route } from "../../../ingress/http/routing.ts";
import { operation, operationRoutes } from "../../../ingress/operations/operation.ts";
import { presentOwner } from "../../../shared/sharing/owner.ts";

const bodies: Bodies = { read: () => Promise.reject(new Error("No body is read.")) };

/** An app with one operation, whose callers are of this organization. */
function open(caller: CallerKind, organizationId: string | undefined) {
  const app = new H3();
  const authenticate = { [caller]: async () => ({ organizationId }) } as unknown as Authenticators;
  const declared = operation({
    caller,
    methods: ["GET"],
    path: "/owner",
    id: "readOwner",
    tag: "Test",
    summary: "Read the owner",
    success: { status: 200, description: "The owner" },
    run: async () => {
      await new Promise(setImmediate); // as a query does
      return { owner: presentOwner() ?? null };
    },
  });
  for (const [pattern, handlers] of operationRoutes(authenticate, bodies, [declared]))
    route(app, pattern, handlers);
  return async () => ((await (await app.request("/owner")).json()) as { owner: string | null }).owner;
}

describe("the owner of a request", () => {
  for (const caller of ["accessToken", "registrar", "session", "job", "attempt", "dataOfBuild"] as const)
    it(`is the organization of a caller with ${caller}, also beside others`, async () => {
      const [ofA, ofB] = [open(caller, "a"), open(caller, "b")];
      assert.deepEqual(await Promise.all([ofA(), ofB(), ofA()]), ["a", "b", "a"]);
      assert.equal(presentOwner(), undefined);
    });

  it("is nobody for a ping, which shares its reads with others", async () => {
    assert.equal(await open("pinging", undefined)(), null);
  });
});
