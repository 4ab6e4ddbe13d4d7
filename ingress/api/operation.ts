import { defineHandler, type EventHandler, type H3Event } from "h3";
import type { z } from "zod";
import type { TokenHolder } from "../../shared/accounts/access-token-store.ts";
import type { Actor } from "../../shared/accounts/audit.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { onBehalfOf } from "../../shared/sharing/turns.ts";
import { requireCaller } from "../auth/principal.ts";
import type { Bodies } from "../http/body.ts";
import { type CheckMembers, type JsonBody, readJson } from "../http/json-body.ts";
import { json, noContent } from "../http/respond.ts";
import { pathParameter } from "../http/routing.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Call<Body> {
  event: H3Event;
  caller: TokenHolder;
  /** The caller, as the audit log names it. */
  actor: Actor;
  parameter(name: string): string;
  /** Call it last: 404 comes before 400 and 422. @throws Refusal 415, 413, 400, 422 */
  readBody<Sound>(alsoCheck?: CheckMembers<Sound>): Promise<Body>;
}

/** Checks requests, and documents them. */
export interface Operation<Body = unknown> {
  methods: Method[];
  path: string;
  /** The name that generated clients give it. */
  id: string;
  tag: string;
  summary: string;
  /** Absent: any token is enough. */
  scope?: Scope;
  needsAdmin?: boolean;
  /** For the document only. */
  query?: Record<string, z.ZodType>;
  body?: JsonBody<Body>;
  /** Default media type: JSON. */
  success: { status: 200 | 201 | 204; schema?: z.ZodType; mediaType?: string; description: string };
  /** Another reason of a 429 than the rate limit, for the document only. */
  tooMany?: string;
  /** Messages of a 422, for the document only. */
  refusals?: string[];
  run(call: Call<Body>): Promise<unknown>;
}

/** Checks the types, then erases them, so that one list holds all operations. */
export function operation<Body>(declared: Operation<Body>): Operation {
  return declared as unknown as Operation;
}

/** Checks in this order: 401, 429, 404, 403, 404, 415, 413, 400, 422. */
export function operationHandler(services: Services, bodies: Bodies, declared: Operation): EventHandler {
  const { scope, needsAdmin, body, success } = declared;
  return defineHandler(async (event) => {
    const caller = await requireCaller(services, event, scope);
    if (needsAdmin && caller.role !== "admin") throw new Refusal(403, "Forbidden");
    const { id: organizationId } = caller.organization;
    const call: Call<unknown> = {
      event,
      caller,
      actor: { organization: caller.organization, userId: caller.user.id },
      parameter: (name) => pathParameter(event, name) ?? "",
      readBody: (alsoCheck) => {
        if (!body) throw new Error(`${declared.id} has no body.`);
        return readJson({ event, bodies, organizationId }, body, alsoCheck as CheckMembers | undefined);
      },
    };
    const result = await onBehalfOf(organizationId, () => declared.run(call));
    if (success.status === 204) return noContent();
    return success.status === 200 ? result : json(success.status, result);
  });
}
