import proxyAddr from "proxy-addr";
import { z } from "zod";
import { isNetwork } from "../networks.ts";

/** Turns an environment variable into a member of `Config`. */
export interface Setting<Given, Value> {
  name: string;
  schema: z.ZodType<Given>;
  /** Markdown, for operators. */
  description: string;
  /** Converts units, or falls back to other settings. */
  resolve: (given: Given, other: OtherSettings) => Value;
}

export interface OtherSettings {
  PORT: number;
  PUBLIC_URL?: string | undefined;
  DATABASE_URL: string;
  PAYLOAD_BYTES_PER_ORGANIZATION: number;
  LOG_BYTES_PER_ORGANIZATION: number;
  ARTIFACT_BYTES_PER_ORGANIZATION: number;
}

export function setting<Given>(
  name: string,
  schema: z.ZodType<Given>,
  description: string,
): Setting<Given, Given>;
export function setting<Given, Value>(
  name: string,
  schema: z.ZodType<Given>,
  description: string,
  resolve: (given: Given, other: OtherSettings) => Value,
): Setting<Given, Value>;
export function setting<Given>(
  name: string,
  schema: z.ZodType<Given>,
  description: string,
  resolve: (given: Given, other: OtherSettings) => unknown = (given) => given,
): Setting<Given, unknown> {
  return { name, schema, description, resolve };
}

export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

/** An origin, without a trailing slash. */
export const address = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .refine((url) => URL.canParse(url) && new URL(url).pathname === "/", "must have no path")
  .transform((url) => new URL(url).origin);

export const proxies = z
  .string()
  .transform((list) => list.split(",").map((part) => part.trim()))
  .refine((list) => {
    try {
      proxyAddr.compile(list);
      return true;
    } catch {
      return false;
    }
  }, "must be a comma-separated list of IP addresses or CIDR ranges (or loopback, linklocal, uniquelocal)");

/** CIDR ranges. One address is one, too. */
export const networks = z
  .string()
  .transform((list) => list.split(",").map((part) => part.trim()))
  .refine((list) => list.every(isNetwork), "must be a comma-separated list of CIDR ranges");

/** A server of SMTP. */
export const mailServer = z
  .url({ protocol: /^smtps?$/, error: "must be smtp://… or smtps://…" })
  .refine((url) => URL.parse(url)?.hostname, "must name a host");

/** `Name <address>`, or the address. */
export const sender = z
  .string()
  .refine(
    (given) => /^[^<>\p{Cc}]*$/u.test(given) || /^[^<>\p{Cc}]+ <[^<>\p{Cc}]+>$/u.test(given),
    "must be an address, or Name <address>",
  )
  .refine(
    (given) => z.email().safeParse(/<(.*)>$/.exec(given)?.[1] ?? given).success,
    "must have an email address",
  );

export const secret = z.string().min(32, "must be at least 32 characters");
