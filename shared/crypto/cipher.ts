import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { SealedPlace } from "./sealed-places.ts";

/**
 * AES-256-GCM, keys derived from SECRET_KEY. Text: `v2.<nonce>.<tag>.<ciphertext>.key:<id>`, base64url. It
 * authenticates its place, so that moved to another column or row it does not open.
 */
export interface Cipher {
  seal(plain: string, place: SealedPlace): string;
  /** @throws SealedUnderOtherKey when neither SECRET_KEY nor the previous one opens it, or it is of another place */
  open(sealed: string, place: SealedPlace): string;
  /**
   * For secrets with too few values for a plain hash. Store the first HMAC; look up by all, the previous key's
   * included.
   */
  macs(text: string): string[];
  /** The fingerprints of both keys, by which a database of another key is recognized. */
  fingerprints: string[];
  /** The names of both keys, the current one first: `:<id>`, the end of the texts that they seal. */
  keyNames: [current: string, ...previous: string[]];
}

/** No key that this process has opens a stored secret. */
export class SealedUnderOtherKey extends Error {
  constructor() {
    super(
      "A stored secret cannot be opened with SECRET_KEY: it was stored under another key, or for another place.",
    );
  }
}

const nonceBytes = 12;
const tagBytes = 16;

const form = "v2";

export function createCipher(secretKey: string, previousSecretKey?: string): Cipher {
  const secrets = previousSecretKey ? [secretKey, previousSecretKey] : [secretKey];
  const keys = secrets.map((secret) => derive(secret, "encryption"));
  const [currentKey] = keys as [Buffer];
  const keyNames = secrets.map(nameKey) as Cipher["keyNames"];
  // Seven times faster than bytes, which OpenSSL would import for each HMAC.
  const macKeys = secrets.map((secret) => createSecretKey(derive(secret, "mac")));

  return {
    seal(plain, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", currentKey, nonce, { authTagLength: tagBytes });
      cipher.setAAD(authenticated(place));
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      const parts = [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString("base64url"));
      return [form, ...parts, `key${keyNames[0]}`].join(".");
    },

    open(sealed, place) {
      for (const [index, key] of keys.entries()) {
        const plain = openWith({ key, keyName: `key${keyNames[index]}`, place }, sealed);
        if (plain !== undefined) return plain;
      }
      throw new SealedUnderOtherKey();
    },

    macs: (text) => macKeys.map((key) => mac(key, text)),

    keyNames,

    fingerprints: secrets.map((secret) => mac(derive(secret, "fingerprint"), "signalbox")),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "signalbox", purpose, 32));
}

function nameKey(secret: string): string {
  return `:${derive(secret, "key id").toString("hex").slice(0, 8)}`;
}

function mac(key: Buffer | KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function authenticated(place: SealedPlace): Buffer {
  return Buffer.from(`${form} ${place}`);
}

function openWith(
  { key, keyName, place }: { key: Buffer; keyName: string; place: SealedPlace },
  sealed: string,
): string | undefined {
  const [version, nonce, tag, body, sealedUnder] = sealed.split(".");
  if (version !== form || sealedUnder !== keyName) return undefined;
  if (nonce === undefined || tag === undefined || body === undefined) return undefined;
  try {
    const iv = Buffer.from(nonce, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
    decipher.setAAD(authenticated(place));
    decipher.setAuthTag(Buffer.from(tag, "base64url"));
    return Buffer.concat([decipher.update(Buffer.from(body, "base64url")), decipher.final()]).toString(
      "utf8",
    );
  } catch {
    return undefined;
  }
}
