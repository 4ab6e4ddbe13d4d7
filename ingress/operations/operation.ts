import { defineHandler, type EventHandler, type H3Event, HTTPResponse } from "h3";
import type { z } from "zod";
import { Refusal } from "../../shared/refusal.ts";
import { nameOwner } from "../../shared/sharing/owner.ts";
import { shortLoopTurn } from "../../shared/sharing/resources.ts";
import type { Authenticators, CallerKind, Callers, Needs } from "../auth/callers.ts";
import type { Bodies } from "../http/body.ts";
import { compressAnswer } from "../http/compression.ts";
import { type CheckMembers, type JsonBody, readJson } from "../http/json-body.ts";
import { keepOutOfLog } from "../http/request-context.ts";
import { json, noContent } from "../http/respond.ts";
import { type Method, mergeRoutes, pathParameter, type Route } from "../http/routing.ts";
import type { RequestBody } from "../http/transfers/upload.ts";

/** A request, with what its authentication told. */
export type Call<Body, Kind extends CallerKind = "accessToken"> = Callers[Kind] & {
  event: H3Event;
  parameter(name: string): string;
  /** Call it last: 404 comes before 400 and 422. @throws Refusal 415, 413, 400, 422 */
  readBody<Sound>(alsoCheck?: CheckMembers<Sound>, options?: Pick<JsonBody<Body>, "prepare">): Promise<Body>;
  /** For a body that is not JSON. @throws the refusal of `tooLarge`; Refusal 503 */
  readBytes(maxBytes: number, tooLarge: () => Refusal): Promise<RequestBody>;
};

/** Checks requests, and documents them. */
export interface Operation<Body = unknown, Kind extends CallerKind = CallerKind> extends Needs {
  /** Default: the holder of an access token. */
  caller?: Kind;
  methods: Method[];
  /** Parameters are `:name`. */
  path: string;
  /** The name that generated clients give it. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** For the document only. */
  query?: Record<string, z.ZodType>;
  /** For the document only. */
  headers?: Record<string, z.ZodType>;
  body?: JsonBody<Body>;
  /** A body that is not JSON, for the document only: `run` reads its bytes. */
  rawBody?: { schema: z.ZodType; mediaType: string };
  /** Default media type: JSON. */
  success: {
    status: 200 | 201 | 202 | 204 | 302;
    schema?: z.ZodType;
    mediaType?: string;
    description: string;
  };
  /** Reasons of refusals, by status, for the document only. It adds the reasons common to a kind of caller. */
  refusals?: Record<number, string[]>;
  /** Stays out of the log if it succeeds: agents repeat it all the time. */
  isQuiet?: boolean;
  run(call: Call<Body, Kind>): Promise<unknown>;
  /** Replaces a refusal, also one of the authentication. */
  translate?(refusal: Refusal, event: H3Event): Promise<Refusal>;
}

/** Checks the types, then erases them, so that one list holds all operations. */
export function operation<Body, Kind extends CallerKind = "accessToken">(
  declared: Operation<Body, Kind>,
): Operation {
  return declared as unknown as Operation;
}

/** The routes of operations. */
export function operationRoutes(
  authenticate: Authenticators,
  bodies: Bodies,
  operations: Operation[],
): Route[] {
  return mergeRoutes(
    operations.map((declared) => {
      const handler = operationHandler(authenticate, bodies, declared);
      return [declared.path, Object.fromEntries(declared.methods.map((method) => [method, handler]))];
    }),
  );
}

/** Checks in this order: 401, 429, 404, 403, 404, 413, 415, 400, 422. */
function operationHandler(authenticate: Authenticators, bodies: Bodies, declared: Operation): EventHandler {
  const { caller: kind = "accessToken", body, success, translate } = declared;
  const answer = async (event: H3Event) => {
    const caller = await authenticate[kind](event, declared);
    if (declared.isQuiet) keepOutOfLog(event);
    const { organizationId } = caller;
    if (organizationId) nameOwner(organizationId);
    // Those of access tokens have taken their turn.
    if (organizationId && kind !== "accessToken") await shortLoopTurn(organizationId);
    const call = {
      ...caller,
      event,
      parameter: (name: string) => pathParameter(event, name) ?? "",
      readBody: (alsoCheck?: CheckMembers, options?: Pick<JsonBody<unknown>, "prepare">) => {
        if (!body || !organizationId) throw new Error(`${declared.id} has no body.`);
        return readJson({ event, bodies, organizationId }, { ...body, ...options }, alsoCheck);
      },
      readBytes: (maxBytes: number, tooLarge: () => Refusal) =>
        bodies.read(event, maxBytes, tooLarge, organizationId ? { organization: organizationId } : {}),
    } as Call<unknown, CallerKind>;
    const result = await declared.run(call);
    if (success.status === 204) return noContent();
    const response = result instanceof HTTPResponse ? result : json(success.status, result);
    // Answers to agents and jobs are small, and many show a token beside texts of strangers.
    return kind === "accessToken" ? compressAnswer(event, response) : response;
  };
  return defineHandler(async (event) => {
    try {
      return await answer(event);
    } catch (error) {
      throw translate && error instanceof Refusal ? await translate(error, event) : error;
    }
  });
}
