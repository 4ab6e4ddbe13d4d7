import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { charsetOf } from "./content-type.ts";

const inflate = promisify(gunzip);

/**
 * Reads the body of a report in the encodings that senders use besides UTF-8: gzip, a byte order mark, UTF-16, and the
 * charset that its type names. Bytes that are no characters are replaced; a body that cannot be read stays as it is.
 */
export async function asUtf8(bytes: Buffer, contentType: string | null, maxBytes: number): Promise<Buffer> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = isGzip ? await inflate(bytes, { maxOutputLength: maxBytes }).catch(() => bytes) : bytes;
  const encoding = encodingOf(text, charsetOf(contentType));
  if (encoding === "utf-8" && text[0] !== 0xef && isUtf8(text)) return text;
  return Buffer.from(new TextDecoder(encoding).decode(text));
}

function encodingOf(bytes: Buffer, charset: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    return "utf-8";
  }
}
