import { type ProviderId, pagesOf } from "../../../shared/sources/providers.ts";

/** Characters of a hash that people read. */
const shownCharacters = 7;
const hash = /^[0-9a-f]{7,64}$/;

/** A repository, and the provider of its host, which decides about the addresses of its web pages. */
export interface SourceRepository {
  repository: string | null;
  provider: ProviderId | null;
}

/**
 * A commit, short if it is a hash, with a link where the repository's host is known. `copy.js` shows the button.
 * @param isWhole shows all of the hash
 */
export function Commit({
  commit,
  source,
  isWhole = false,
}: {
  commit: string;
  source: SourceRepository;
  isWhole?: boolean;
}) {
  if (!hash.test(commit)) return <code>{commit}</code>;
  const url = commitUrl(source, commit);
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

/** The web page of a commit. Undefined for addresses that lead to no host, and hosts whose pages are not known. */
export function commitUrl(source: SourceRepository, commit: string): string | undefined {
  return pageBelow(source, pagesOf(source.provider)?.commit, commit);
}

/** The web page of a file at a commit. Undefined if nobody knows the host, or the commit has no hash. */
export function fileUrl(
  source: SourceRepository,
  { commit, file }: { commit: string; file: string },
): string | undefined {
  if (!hash.test(commit)) return undefined;
  return pageBelow(source, pagesOf(source.provider)?.files, `${commit}/${file}`);
}

/** The web page of the commits between two. Undefined like `fileUrl`. */
export function compareUrl(source: SourceRepository, from: string, to: string): string | undefined {
  if (!hash.test(from) || !hash.test(to)) return undefined;
  return pageBelow(source, pagesOf(source.provider)?.compare, `${from}...${to}`);
}

function pageBelow(
  { repository }: SourceRepository,
  folder: string | undefined,
  rest: string,
): string | undefined {
  const url = webUrl(repository);
  return url && folder && `${url}/${folder}/${rest}`;
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
