/**
 * Spellings of model names (docs/design/pricing.md, "Finding the row for a model name"). Nothing here matches parts of
 * a name: each function returns whole names, which are then looked up exactly.
 */

/**
 * The canonical form by which two names of a model, a harness or an agent are compared: lower case, `@` as `-`, without
 * the `[1m]` that Claude Code appends for a long context, and without the `models/` prefix of Gemini's API. It is
 * idempotent, and never returns an empty name.
 */
export function normalizeModelName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('@', '-')
    .replace(/(?<=.)(?:\[1m\])+$/, '')
    .replace(/^(?:models\/)+(?=.)/, '')
}

const VERSION = /(?<=.)-v\d+:\d+$/

/** Only dates of this century, so that `-20990000` or a build number remains part of the name. */
const DATE = /(?<=.)-20\d\d(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$/

/**
 * The effort of reasoning that agents append to names: it changes how many tokens a request takes, not their price. Names
 * that contain such a word themselves (`mistral-medium`, `gpt-5.1-codex-max`) belong to other makers or are not listed.
 */
const EFFORT = /(?<=^(?:gpt-\d|codex|o\d).*)-(?:none|minimal|low|medium|high|xhigh)$|(?<=^claude-.*\d.*)-thinking$/

/**
 * A name without its trailing version (`-v1:0`), then also without its trailing date (`20250929`, `2025-09-29`), and
 * then without the effort of reasoning (`gpt-5-high`, `claude-sonnet-4.5-thinking`). Empty if it has none of them.
 */
export function undatedNames(name: string): string[] {
  const unversioned = name.replace(VERSION, '')
  const undated = unversioned.replace(DATE, '')
  const names = new Set([unversioned, undated, undated.replace(EFFORT, '').replace(DATE, '')])
  names.delete(name)
  return [...names]
}

/** `azure`, `bedrock` and regions are intentionally absent: they have their own prices, see `sellers.ts`. */
const VENDOR = /^(?:anthropic|openai|google|gemini|vertex_ai|openrouter)\/(?=.)/i

/**
 * A name without its vendor prefix (`anthropic/claude-…`), and after `openrouter/` also without the maker, which
 * `isMaker` recognizes. Empty if the name has no such prefix.
 */
export function unvendoredNames(name: string, isMaker: (vendor: string) => boolean): string[] {
  const vendor = VENDOR.exec(name)?.[0]
  if (!vendor) return []
  const rest = name.slice(vendor.length)
  const slash = rest.indexOf('/')
  const routed = vendor.toLowerCase() === 'openrouter/' && slash > 0 && isMaker(rest.slice(0, slash).toLowerCase())
  return routed ? [rest, rest.slice(slash + 1)] : [rest]
}
