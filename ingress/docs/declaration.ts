import type { z } from "zod";
import type { Token } from "../auth/callers.ts";
import type { Method } from "../http/routing.ts";
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

/** An operation as the document describes it. */
export interface Declaration {
  methods: Method[];
  /** Parameters are `:name`. */
  path: string;
  /** The name that generated clients give it. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** Alternatives. None: public. */
  security: (SecurityScheme | "none")[];
  server: ServerSetting;
  /** Descriptions of path parameters that are not in the common list. */
  pathParameters?: Record<string, string>;
  query?: Record<string, z.ZodType>;
  headers?: Record<string, z.ZodType>;
  body?: { schema: z.ZodType; mediaType: string; isOptional?: boolean };
  /** By status. */
  answers: Record<string, Answer>;
}

export const jsonType = "application/json";
export const formType = "application/x-www-form-urlencoded";
