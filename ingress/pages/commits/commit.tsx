import { type ProviderId, providers } from "../../../shared/sources/providers.ts";

/** Characters of a hash that people read. */
const shownCharacters = 7;
const hash = /^[0-9a-f]{7,64}$/;

/**
 * A commit, short if it is a hash, with a link where the repository's host is known. `copy.js` shows the button.
 * @param isWhole shows all of the hash
 */
export function Commit({
  commit,
  repository,
  isWhole = false,
}: {
  commit: string;
  repository: string | null;
  isWhole?: boolean;
}) {
  if (!hash.test(commit)) return <code>{commit}</code>;
  const url = commitUrl(repository, commit);
  const shown = <code>{isWhole ? commit : commit.slice(0, shownCharacters)}</code>;
  return (
    <span class="commit">
      {url ? (
        <a href={url} rel="noreferrer">
          {shown}
        </a>
      ) : (
        shown
      )}{" "}
      <button
        type="button"
        class="plain"
        data-text={commit}
        aria-label={`Copy ${commit.slice(0, shownCharacters)}`}
        hidden
      >
        Copy
      </button>
      <span class="quiet" role="status" />
    </span>
  );
}

/** `git@github.com:octo-org/site.git` */
const scpAddress = /^(?:[^@/:\s]+@)?([a-z0-9.-]+\.[a-z0-9-]+):(?!\/)(\S+)$/i;

/** The web page of a commit. Undefined for addresses that lead to no host. */
export function commitUrl(repository: string | null, commit: string): string | undefined {
  const url = webUrl(repository);
  return url && `${url}/${URL.parse(url)?.hostname === "bitbucket.org" ? "commits" : "commit"}/${commit}`;
}

/** The web page of a file at a commit. Undefined if nobody knows the host, or the commit has no hash. */
export function fileUrl(
  repository: string | null,
  { provider, commit, file }: { provider: ProviderId | null; commit: string; file: string },
): string | undefined {
  const folder = provider === null ? undefined : providers[provider].files;
  const url = webUrl(repository);
  return folder && url && hash.test(commit) ? `${url}/${folder}/${commit}/${file}` : undefined;
}

/** The web page of a repository. Undefined for addresses that lead to no host. Leaves out credentials. */
function webUrl(repository: string | null): string | undefined {
  const [, host, path] = scpAddress.exec(repository ?? "") ?? [];
  const url = URL.parse(host ? `ssh://${host}/${path}` : (repository ?? ""));
  if (!url?.hostname || !["https:", "http:", "ssh:"].includes(url.protocol)) return undefined;
  const isWeb = url.protocol !== "ssh:";
  const base = isWeb ? url.origin : `https://${url.hostname}`;
  return `${base}${url.pathname.replace(/\/+$/, "").replace(/\.git$/, "")}`;
}
