/**
 * What CHANGELOG.md says about a version. It follows https://keepachangelog.com: a heading `## [1.2.3] - 2026-11-20` for
 * each release, and `## [Unreleased]` at the top.
 */

export interface ChangelogSection {
  /** The day of the release, `2026-11-20`. */
  date: string
  text: string
}

/** Why there is no section that can be released, with what to do; undefined if there is one. */
export function changelogObstacle(changelog: string, version: string): string | undefined {
  const heading = `'## [${version}] - YYYY-MM-DD'`
  const found = sections(changelog).find(({ title }) => title.startsWith(`[${version}]`))
  if (!found) {
    return `CHANGELOG.md has no section ${heading}. Rename '## [Unreleased]' to it, or change the version in package.json.`
  }
  const date = dateOf(found.title, version)
  if (date === undefined) return `The heading '## ${found.title}' in CHANGELOG.md has no valid date. Write ${heading}.`
  const changes = found.text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  if (changes.length === 0) return `The section '## ${found.title}' in CHANGELOG.md is empty. List what has changed.`
  return undefined
}

/** Throws unless {@link changelogObstacle} finds none. */
export function changelogSection(changelog: string, version: string): ChangelogSection {
  const obstacle = changelogObstacle(changelog, version)
  if (obstacle !== undefined) throw new Error(obstacle)
  const { title, text } = sections(changelog).find((each) => each.title.startsWith(`[${version}]`))!
  return { date: dateOf(title, version)!, text: text.trim() }
}

function sections(changelog: string): { title: string; text: string }[] {
  const [, ...parts] = changelog.split(/^## /m)
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    return { title: title.trim(), text: lines.join('\n') }
  })
}

function dateOf(title: string, version: string): string | undefined {
  const date = title.slice(`[${version}]`.length).match(/^ - (\d{4}-\d\d-\d\d)$/)?.[1]
  const time = date === undefined ? Number.NaN : Date.parse(`${date}T00:00:00Z`)
  // A day such as 2026-02-31 would otherwise be one of the next month.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date!) ? date : undefined
}
