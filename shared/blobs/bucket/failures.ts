import { BlobsUnavailable } from "../blobs.ts";

/** The name of a refusal, such as `NoSuchKey`. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** Runs a call of the bucket. Any failure is the bucket's, or that of its settings. @throws BlobsUnavailable */
export async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof BlobsUnavailable) throw error;
    const { message } = error as Error;
    throw new BlobsUnavailable(`The bucket is unavailable: ${codeOf(error)}: ${message}`, { cause: error });
  }
}
