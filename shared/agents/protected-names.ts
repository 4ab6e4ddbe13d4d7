/** Agents set these themselves, and warn in each log that has one. Without the prefix. */
const protectedNames = new Set([
  "AGENT_ACCESS_TOKEN",
  "AGENT_DEBUG",
  "AGENT_DEBUG_HTTP",
  "AGENT_ENDPOINT",
  "AGENT_EXPERIMENT",
  "AGENT_PID",
  "AGENT_PROFILE",
  "AGENT_TOKEN",
  "ADDITIONAL_HOOKS_PATHS",
  "BIN_PATH",
  "BUILD_PATH",
  "CANCEL_SIGNAL",
  "CANCEL_SIGNAL_TIMEOUT",
  "CHECKOUT_ATTEMPTS",
  "CHECKOUT_OVERRIDE_MODE",
  "COMMAND_EVAL",
  "CONFIG_PATH",
  "ENV_FILE",
  "ENV_JSON_FILE",
  "GIT_CLONE_MIRROR_FLAGS",
  "GIT_SUBMODULE_CLONE_CONFIG",
  "HOOKS_PATH",
  "HOOKS_SHELL",
  "LOCAL_HOOKS_ENABLED",
  "NO_HTTP2",
  "PLUGINS_ENABLED",
  "PLUGINS_PATH",
  "PLUGIN_VALIDATION",
  "REDACTED_VARS",
  "SHELL",
  "SOCKETS_PATH",
  "SSH_KEYSCAN",
  "STRICT_SINGLE_HOOKS",
]);

export function isProtected(prefix: string, name: string): boolean {
  if (!name.startsWith(`${prefix}_`)) return false;
  const rest = name.slice(prefix.length + 1);
  return protectedNames.has(rest) || rest.startsWith("GIT_MIRRORS_");
}
