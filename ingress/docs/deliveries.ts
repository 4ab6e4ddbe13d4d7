import { z } from "zod";
import * as field from "../../shared/presenters/fields.ts";
import type { Config } from "../../shared/settings/config.ts";
import type { Signature } from "../../shared/triggers/signatures.ts";
import { triggerTypes } from "../../shared/triggers/types.ts";
import { type HeaderName, rateLimitHeaders } from "./answers.ts";
import { type Answer, type Declaration, jsonType } from "./declaration.ts";

const createdSchema = z.object({ id: field.id.meta({ description: "Id of the delivery" }) });

function refusal(description: string, headers: HeaderName[] = []): Answer {
  return { description, schema: field.problem, headers };
}

/** Describes `POST /deliver/:token`. */
export function declareDeliver({ issueTracker, maxPayloadBytes, maxPayloadDepth }: Config): Declaration {
  return {
    methods: ["POST"],
    path: "/deliver/:token",
    id: "postDelivery",
    tag: "Posting a delivery",
    summary: "Post a webhook to a trigger",
    description:
      "For senders. The token in the address authenticates. 201 means that the payload is stored: the build follows, unless the trigger's filter leaves it out.",
    security: [],
    server: "webhookUrl",
    pathParameters: { token: "Token of the trigger's endpoint URL" },
    headers: headersOf(issueTracker),
    body: {
      schema: z.unknown().meta({ description: `JSON in UTF-8, at most ${maxPayloadBytes} bytes` }),
      mediaType: jsonType,
    },
    answers: {
      "201": {
        description: "The delivery is stored",
        schema: createdSchema,
        headers: ["Idempotent-Replayed", ...rateLimitHeaders],
      },
      "400": refusal(
        `The token is malformed, the payload is not JSON or nested deeper than ${maxPayloadDepth} levels, or the key is too long`,
      ),
      "401": refusal("The signature does not match"),
      "403": refusal("The trigger is disabled"),
      "404": refusal("No such trigger"),
      "413": refusal(`The payload is larger than ${maxPayloadBytes} bytes`),
      "415": refusal("The content type is not JSON in UTF-8, or the body is compressed"),
      "429": refusal("Too many deliveries: wait as Retry-After says", ["Retry-After", ...rateLimitHeaders]),
      "503": refusal("Temporarily unavailable: wait as Retry-After says", ["Retry-After"]),
    },
  };
}

function describeSignature(signature: Signature): string {
  switch (signature.scheme) {
    case "hmac":
      return `${signature.prefix}<${signature.encoding}>: HMAC-${signature.algorithm.toUpperCase()} of the body`;
    case "token":
      return "The secret";
    case "standard":
      return "v1,<base64>: HMAC-SHA256 of webhook-id, webhook-timestamp and the body, joined by dots";
  }
}

function headersOf(issueTracker: string): Record<string, z.ZodType> {
  const types = triggerTypes(issueTracker);
  const typesOf = new Map<string, string[]>();
  const signatures = types.flatMap(({ name, signatures }) =>
    signatures.map((signature) => {
      const names = [...(typesOf.get(signature.header) ?? []), name];
      typesOf.set(signature.header, names);
      return [signature.header, `${describeSignature(signature)}, for triggers of type ${names.join(", ")}`];
    }),
  );
  const others = types.flatMap(({ eventHeader = [], deliveryIdHeader = [] }) => [
    ...[eventHeader].flat().map((header) => [header, "Name of the event, shown and open to filters"]),
    ...[deliveryIdHeader].flat().map((header) => [header, "The sender's own id of the delivery"]),
  ]);
  const described = [
    [
      "Idempotency-Key",
      "A key that the trigger has seen in the last 24 hours answers the first delivery's id",
    ],
    ...signatures,
    ...others,
  ] as [name: string, description: string][];
  return Object.fromEntries(
    described.map(([name, description]) => {
      const schema = name === "Idempotency-Key" ? z.string().max(255) : z.string();
      return [name, schema.optional().meta({ description })];
    }),
  );
}
