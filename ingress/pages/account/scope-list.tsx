import { isScope, scopeWords } from "../../../shared/accounts/scopes.ts";

/** Scopes in words, each with its name. */
export function ScopeList({ scopes }: { scopes: string[] }) {
  return (
    <ul class="scopes">
      {scopes.map((scope) => (
        <li key={scope}>
          {isScope(scope) ? scopeWords[scope] : scope} <code>{scope}</code>
        </li>
      ))}
    </ul>
  );
}
