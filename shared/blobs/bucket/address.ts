/** A bucket with the interface of S3. */
export interface BucketAddress {
  bucket: string;
  /** Empty, or with a `/` at its end. */
  prefix: string;
  /** Undefined: that of AWS. */
  endpoint: string | undefined;
  region: string;
  /** Agents and browsers reach the endpoint: bytes need not pass through the ingress. */
  isDirect: boolean;
}

const parameters = new Set(["endpoint", "region", "direct"]);
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixCharacters = /^[\w.-]+(\/[\w.-]+)*$/;

/** @throws Error with a message for operators */
export function parseBucketUrl(text: string): BucketAddress {
  const fail = (message: string): never => {
    throw new Error(message);
  };
  const url = URL.parse(text) ?? fail("must be s3://<bucket>[/<prefix>][?endpoint=…&region=…]");
  if (url.username || url.password)
    fail("must have no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  for (const name of url.searchParams.keys())
    if (!parameters.has(name)) fail(`knows endpoint, region and direct, not ${name}`);
  if (!bucketName.test(url.host)) fail("must name a bucket: s3://<bucket>");
  const prefix = url.pathname.replace(/^\/|\/$/g, "");
  if (prefix !== "" && !prefixCharacters.test(prefix))
    fail("must have a prefix of letters, digits, ., _, - and /");

  const endpoint = url.searchParams.get("endpoint") ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    fail("must have an http:// or https:// address as its endpoint");
  const direct = url.searchParams.get("direct") ?? "yes";
  if (direct !== "yes" && direct !== "no") fail("must have direct=yes or direct=no");
  return {
    bucket: url.host,
    prefix: prefix && `${prefix}/`,
    endpoint,
    region: url.searchParams.get("region") ?? "us-east-1",
    isDirect: direct === "yes",
  };
}

/** For operators. */
export function placeOf({ bucket, prefix, endpoint }: BucketAddress): string {
  return `s3://${bucket}/${prefix}${endpoint === undefined ? "" : ` at ${endpoint}`}`;
}
