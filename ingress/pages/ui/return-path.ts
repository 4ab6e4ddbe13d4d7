const nowhere = "http://local.invalid";

/**
 * Where to go on to after signing in: a path of ours, as an address carried it. Anything that a browser would take
 * for another site is the start page.
 */
export function localPath(text: string | null): string {
  if (!text?.startsWith("/")) return "/";
  const url = URL.parse(text, nowhere);
  if (url?.origin !== nowhere || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search;
}
