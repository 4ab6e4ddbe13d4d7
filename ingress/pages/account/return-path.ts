const placeholderOrigin = "http://local.invalid";

/** The path to return to after signing in. An address of another site becomes `/`. */
export function localPath(text: string | null): string {
  if (!text?.startsWith("/")) return "/";
  const url = URL.parse(text, placeholderOrigin);
  if (url?.origin !== placeholderOrigin || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}
