/** `🚀 Primary`. An emoji given as `:rocket:` is left out. */
export function titleOf({ emoji, name }: { emoji: string | null; name: string }): string {
  return emoji && !emoji.startsWith(":") ? `${emoji} ${name}` : name;
}
