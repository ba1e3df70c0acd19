/** Names that no source lists but that agents and routers write. */
import type { PricedModel } from './rows.ts'

/** A Claude whose family stands before its version, as Anthropic writes it; the date is not part of other spellings. */
const CLAUDE = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-latest)?$/

/** The models with other spellings of their names as aliases: `claude-4.5-sonnet` for `claude-sonnet-4-5`. */
export function withSpellings(provider: string, models: PricedModel[]): PricedModel[] {
  if (provider !== 'anthropic') return models
  const listed = new Set(models.flatMap(({ name, aliases }) => [name, ...aliases]))
  return models.map((model) => {
    const spellings = [model.name, ...model.aliases].flatMap(spellingsOf).filter((name) => !listed.has(name))
    for (const name of spellings) listed.add(name)
    return { ...model, aliases: [...model.aliases, ...new Set(spellings)] }
  })
}

function spellingsOf(name: string): string[] {
  const [, family, major, minor] = CLAUDE.exec(name) ?? []
  if (!family || !major) return []
  const versions = minor === undefined ? [major] : [`${major}-${minor}`, `${major}.${minor}`]
  return versions.flatMap((version) => [`claude-${family}-${version}`, `claude-${version}-${family}`])
}
