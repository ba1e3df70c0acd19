/** Sums of what was not read, over files and over folders. */
import { type Damage, type NotRead, notReadOf } from './agent.ts'

/** Each session once, whatever files it is in. */
export function notReadIn(damage: readonly Damage[]): NotRead[] {
  const known = new Set<string>()
  const isNew = (name: string) => known.size < known.add(name).size
  return sumNotRead(
    damage.flatMap((each) => {
      const notRead = notReadOf(each)
      if (!notRead) return []
      const again = each.sessions?.filter((session) => !isNew(`${notRead.reason} ${notRead.name} ${session}`)) ?? []
      return again.length < notRead.count ? { ...notRead, count: notRead.count - again.length } : []
    }),
  )
}

/** One for each reason and name. */
export function sumNotRead(all: readonly NotRead[]): NotRead[] {
  const sums = new Map<string, NotRead>()
  for (const each of all) {
    const key = `${each.reason} ${each.name}`
    sums.set(key, { ...each, count: (sums.get(key)?.count ?? 0) + each.count })
  }
  return [...sums.values()]
}

/** Null if none is named. By their numbers, as no agent promises that its versions are semantic. */
export function newestVersion(versions: readonly (string | null | undefined)[]): string | null {
  return [...new Set(versions)].reduce<string | null>(
    (newest, version) =>
      version && (newest === null || version.localeCompare(newest, 'en', { numeric: true }) > 0) ? version : newest,
    null,
  )
}
