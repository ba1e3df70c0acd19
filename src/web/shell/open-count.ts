/** How much waits for the person, in the title of the window and on its icon, where other tabs show it too. */
import { useEffect, useSyncExternalStore } from 'react'
import { count } from '../format/counts.ts'

let current = 0
const listeners = new Set<() => void>()

/** Shows that this much waits; 0 shows nothing. */
export function showOpenCount(open: number): void {
  if (open === current) return
  current = open
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** `(3) Overview – Meridian` */
export const titleOf = (open: number, page: string | undefined, organization: string): string =>
  `${open > 0 ? `(${count(open)}) ` : ''}${page === undefined ? organization : `${page} – ${organization}`}`

const ICON = '/assets/icon.svg'

/** The icon with a dot; a number would be too small to read. */
const MARKED = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M7 6v20M13 6v20M19 6v20M25 6v20M3 23 29 9" fill="none" stroke="#2f6f5e" stroke-width="3" stroke-linecap="round"/><circle cx="24" cy="8" r="7.5" fill="#d9480f"/></svg>',
)}`

/** Keeps the title and the icon of the window. */
export function useWindowTitle(page: string | undefined, organization: string): void {
  const open = useSyncExternalStore(subscribe, () => current)
  useEffect(() => {
    document.title = titleOf(open, page, organization)
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    const wanted = open > 0 ? MARKED : ICON
    if (icon && icon.getAttribute('href') !== wanted) icon.href = wanted
  }, [open, page, organization])
}
