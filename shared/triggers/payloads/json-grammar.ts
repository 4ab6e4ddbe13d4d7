// JSON's grammar (RFC 8259) as a state machine over bytes, completed by a stack of objects and arrays.

const names = [
  ...["invalid", "value", "firstElement", "firstKey", "nextKey", "colon", "afterValue"],
  ...["string", "stringEscape", "stringHex4", "stringHex3", "stringHex2", "stringHex1"],
  ...["key", "keyEscape", "keyHex4", "keyHex3", "keyHex2", "keyHex1"],
  ...["minus", "zero", "integer", "point", "fraction", "exponent", "exponentSign", "exponentDigits"],
  ...["t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"],
  // Actions: the next state depends on the stack.
  ...["openObject", "openArray", "closeObject", "closeArray", "comma"],
] as const;
const numbers = Object.fromEntries(names.map((name, number) => [name, number]));

/** Actions have the highest numbers, `invalid` has 0. @throws Error for an unknown name */
export function jsonState(name: string): number {
  const number = numbers[name];
  if (number === undefined) throw new Error(`JSON has no state ${name}.`);
  return number;
}

/** The state after a byte, at 256 * the state before + the byte. */
export const jsonTransitions = new Uint8Array(names.length * 256);

/** All string bytes but end, escapes and control characters. */
export const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[0x22] = isPlain[0x5c] = 0;

const digits = "0123456789";
const hexDigits = `${digits}abcdefABCDEF`;

/** A value may end here. */
const valueEnds = ["afterValue", "zero", "integer", "fraction", "exponentDigits"];
export const endsValue = names.map((name) => valueEnds.includes(name));

rule("value firstElement", "{", "openObject");
rule("value firstElement", "[", "openArray");
rule("value firstElement", '"', "string");
rule("value firstElement", "-", "minus");
rule("value firstElement minus", "0", "zero");
rule("value firstElement minus", "123456789", "integer");
rule("integer", digits, "integer");
rule("zero integer", ".", "point");
rule("point fraction", digits, "fraction");
rule("zero integer fraction", "eE", "exponent");
rule("exponent", "+-", "exponentSign");
rule("exponent exponentSign exponentDigits", digits, "exponentDigits");
for (const literal of ["true", "false", "null"]) {
  const states = ["value firstElement", ...[1, 2, 3, 4].map((end) => literal.slice(0, end))];
  states[literal.length] = "afterValue";
  for (const [index, byte] of [...literal].entries())
    rule(states[index] ?? "", byte, states[index + 1] ?? "");
}
for (const [text, next] of [
  ["string", "afterValue"],
  ["key", "colon"],
] as const) {
  for (const [byte, plain] of isPlain.entries()) if (plain) rule(text, String.fromCharCode(byte), text);
  rule(text, '"', next);
  rule(text, "\\", `${text}Escape`);
  rule(`${text}Escape`, '"\\/bfnrt', text);
  rule(`${text}Escape`, "u", `${text}Hex4`);
  for (const left of [4, 3, 2]) rule(`${text}Hex${left}`, hexDigits, `${text}Hex${left - 1}`);
  rule(`${text}Hex1`, hexDigits, text);
}
rule("firstElement", "]", "closeArray");
rule("firstKey", "}", "closeObject");
rule("firstKey nextKey", '"', "key");
rule("colon", ":", "value");
rule(valueEnds.join(" "), ",", "comma");
rule(valueEnds.join(" "), "]", "closeArray");
rule(valueEnds.join(" "), "}", "closeObject");
for (const state of ["value", "firstElement", "firstKey", "nextKey", "colon", "afterValue"])
  rule(state, " \t\n\r", state);
rule(valueEnds.join(" "), " \t\n\r", "afterValue");

function rule(states: string, bytes: string, next: string): void {
  for (const state of states.split(" "))
    for (const byte of bytes) jsonTransitions[jsonState(state) * 256 + byte.charCodeAt(0)] = jsonState(next);
}
