/** What somebody opened last from the palette, kept in this browser until they sign out. */
interface Recent {
  key: string
  title: string
  detail?: string | null | undefined
  href: string
}

/** What fits under an empty field without scrolling. */
const KEPT = 6

const PREFIX = 'tally-recent-'

/** Storage may be blocked, full, or filled by another version. */
export function readRecent(personId: string): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(PREFIX + personId) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, KEPT) : []
  } catch {
    return []
  }
}

function isRecent(value: unknown): value is Recent {
  const { key, title, href } = (value ?? {}) as Record<string, unknown>
  return [key, title, href].every((text) => typeof text === 'string') && /^\/(?!\/)/.test(href as string)
}

export function noteRecent(personId: string, { key, title, detail, href }: Recent): void {
  const others = readRecent(personId).filter((item) => item.key !== key)
  try {
    localStorage.setItem(PREFIX + personId, JSON.stringify([{ key, title, detail, href }, ...others].slice(0, KEPT)))
  } catch {}
}

/** Whoever signs in next at this screen sees nothing of it. */
export function forgetRecent(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key)
  } catch {}
}
