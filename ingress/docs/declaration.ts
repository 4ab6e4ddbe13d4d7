import type { z } from "zod";
import type { Token } from "../auth/callers.ts";
import type { Operation } from "../operations/operation.ts";
import type { HeaderName } from "./answers.ts";

/** Names a security scheme of the document, with which a caller authenticates. */
export type SecurityScheme = Token | "client";

/** The settings that name the addresses of the API. */
export type ServerSetting = "baseUrl" | "authUrl" | "webhookUrl";

export interface Answer {
  description: string;
  /** Absent: no body. */
  schema?: z.ZodType;
  /** Default: JSON. */
  mediaType?: string;
  headers: HeaderName[];
}

type Common = "methods" | "path" | "id" | "tag" | "summary" | "description" | "query" | "headers";

/** An operation as the document describes it. */
export interface Declaration extends Pick<Operation, Common> {
  /** Alternatives. None: public. */
  security: (SecurityScheme | "none")[];
  server: ServerSetting;
  /** Descriptions of path parameters that are not in the common list. */
  pathParameters?: Record<string, string>;
  body?: { schema: z.ZodType; mediaType: string; isOptional?: boolean };
  /** By status. */
  answers: Record<string, Answer>;
}

export const jsonType = "application/json";
export const formType = "application/x-www-form-urlencoded";
