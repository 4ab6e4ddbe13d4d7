import { excerpt } from "../refusal.ts";
import type { Budget } from "./budget.ts";
import { ConditionError } from "./expression.ts";
import { toPattern } from "./regex.ts";

export interface Token {
  kind: "name" | "integer" | "text" | "symbol" | "end";
  /** As written. */
  source: string;
  at: number;
}

/** Blanks and comments. */
const gap = /(?:\s|\/\/[^\n]*)*/y;
const kinds = [
  ["name", /[A-Za-z_]\w*/y],
  ["integer", /\d+/y],
  ["text", /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/sy],
  ["symbol", /\|\||&&|==|!=|=~|!~|@>|[!()[\],.]/y],
] as const;
const regex = /\/((?:\\[^\n]|[^/\\\n])+)\/(\w*)/y;

/** Advice for what is no part of the language, by its first character. */
const advice: Record<string, string> = {
  '"': "The text has no closing quote",
  "'": "The text has no closing quote",
  "=": "Use == to compare, or =~ to match a regular expression",
  "&": "Use && for and",
  "|": "Use || for or",
  "/": "A regular expression can only stand on the right of =~, !~ and includes",
  "<": "Conditions cannot compare by < or >, only by == and !=",
  ">": "Conditions cannot compare by < or >, only by == and !=",
  $: 'Variables are read with build.env("NAME"), not with $',
  "“": "Use straight quotes",
  "”": "Use straight quotes",
  "‘": "Use straight quotes",
  "’": "Use straight quotes",
};

/** Reads a condition from left to right, one token ahead. */
export class Tokens {
  readonly #text: string;
  readonly #budget: Budget;
  #next: Token;

  constructor(text: string, budget: Budget) {
    this.#text = text;
    this.#budget = budget;
    this.#next = this.#read(0);
  }

  get next(): Token {
    return this.#next;
  }

  take(): Token {
    const token = this.#next;
    if (token.kind !== "end") this.#next = this.#read(token.at + token.source.length);
    return token;
  }

  /** Takes the next token if it is one of these symbols or words. */
  takeIf(...sources: string[]): Token | undefined {
    const { kind, source } = this.#next;
    return (kind === "symbol" || kind === "name") && sources.includes(source) ? this.take() : undefined;
  }

  /** Returns true if a slash is behind the operator that comes next. */
  isBeforeRegex(): boolean {
    const { at, source } = this.#next;
    return this.#text[this.#skipGap(at + source.length)] === "/";
  }

  /** Takes the operator that comes next, and the regular expression behind it. */
  takeRegex(): string {
    const operator = this.#next;
    const at = this.#skipGap(operator.at + operator.source.length);
    regex.lastIndex = at;
    const [source, pattern, flags] = regex.exec(this.#text) ?? [];
    if (source === undefined || pattern === undefined) throw new ConditionError(this.#regexAdvice(at), at);
    const checked = toPattern(pattern, flags ?? "", { at, budget: this.#budget });
    this.#next = this.#read(at + source.length);
    return checked;
  }

  #read(index: number): Token {
    const at = this.#skipGap(index);
    if (at === this.#text.length) return { kind: "end", source: "", at };
    for (const [kind, pattern] of kinds) {
      pattern.lastIndex = at;
      const [source] = pattern.exec(this.#text) ?? [];
      if (source !== undefined) return { kind, source, at };
    }
    const character = String.fromCodePoint(this.#text.codePointAt(at) as number);
    throw new ConditionError(advice[character] ?? `Unexpected ${character}`, at);
  }

  #skipGap(index: number): number {
    gap.lastIndex = index;
    gap.exec(this.#text);
    return gap.lastIndex;
  }

  #regexAdvice(at: number): string {
    if (this.#text[at] === "/") return "The regular expression has no closing /";
    return "Write a regular expression between slashes, as in /^v[0-9]/, on the right of =~ and !~";
  }
}

export function describeToken({ kind, source }: Token): string {
  return kind === "end" ? "the end" : excerpt(source);
}
