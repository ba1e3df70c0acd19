/**
 * Reads a page again when the server says that something it may show has changed. One stream per visible page: hidden
 * ones have none, and ask what changed once they are looked at.
 */
import type { Query } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { type Part, queryClient } from './queries.ts'

/** What pages read of each kind of change. */
const PARTS: Record<string, readonly Part[]> = {
  entries: ['entries', 'reports', 'inbox'],
  sheets: ['sheets', 'inbox'],
  budgets: ['budgets', 'reports'],
  plans: ['plans', 'reports', 'inbox'],
  bills: ['bills', 'inbox'],
  prices: ['prices', 'inbox'],
  work: ['clients', 'projects', 'tickets', 'inbox'],
  rules: ['rules', 'inbox'],
  people: ['users', 'tokens'],
}

/** Agents report all the time: a page that is read again more often would only flicker. */
const EVERY_MS = 3_000

/** The same for reports, of which a page has many, and for what is counted of all entries. */
const SUMS_EVERY_MS = 15_000
const SUMS: readonly Part[] = ['reports', 'inbox']

/** After the server refused a stream, which a browser does not repeat by itself. */
const AGAIN_MS = 30_000

/** The parts to read again for a message of the stream; none for one that cannot be read. */
function partsOf(message: string): Part[] {
  try {
    const { kinds } = JSON.parse(message) as { kinds: string[] }
    return [...new Set(kinds.flatMap((kind) => PARTS[kind] ?? []))]
  } catch {
    return []
  }
}

/** A list of entries that must not change by itself, because somebody is in the middle of it. */
let isHeld = false
let hasNews = false
const observers = new Set<() => void>()

function noteNews(isThere: boolean): void {
  if (hasNews === isThere) return
  hasNews = isThere
  for (const observe of observers) observe()
}

const isEntryList = ({ queryKey: [part, kind] }: Query) => part === 'entries' && kind === 'list'

/** Totals of a text search read every entry: they are calculated on request. */
const isSearch = ({ queryKey: [part, kind, query] }: Query) =>
  part === 'reports' && kind === 'sums' && (query as { q?: string }).q !== undefined

function readAgain(part: Part): void {
  if (part === 'entries' && isHeld) noteNews(true)
  void queryClient.invalidateQueries({
    queryKey: [part],
    predicate: (query) => !(isHeld && isEntryList(query)) && !isSearch(query),
  })
}

/** Whether there is something new for the list of entries, which stays as it is while it is held. */
export function useEntryNews(isBusy: boolean): { hasNews: boolean; show: () => void } {
  useEffect(() => {
    isHeld = isBusy
    // What waited is read as soon as the list may change again.
    if (!isBusy && hasNews) showNews()
    return () => {
      isHeld = false
    }
  }, [isBusy])
  const isNew = useSyncExternalStore(
    (observe) => {
      observers.add(observe)
      return () => observers.delete(observe)
    },
    () => hasNews,
  )
  return { hasNews: isNew && isBusy, show: showNews }
}

function showNews(): void {
  noteNews(false)
  void queryClient.resetQueries({ predicate: (query) => isEntryList(query) && query.isActive() })
}

/** Used once, in the frame of all pages. */
export function useLive(isOn: boolean): void {
  useEffect(() => (isOn ? follow() : undefined), [isOn])
}

/** Follows changes until the returned function is called. */
function follow(): () => void {
  let stream: EventSource | undefined
  let last = ''
  let again: ReturnType<typeof setTimeout> | undefined
  const due = new Map<Part, ReturnType<typeof setTimeout>>()
  const readAt = new Map<Part, number>()
  const plan = (part: Part) => {
    if (due.has(part)) return
    const everyMs = SUMS.includes(part) ? SUMS_EVERY_MS : EVERY_MS
    const read = () => {
      due.delete(part)
      readAt.set(part, Date.now())
      readAgain(part)
    }
    due.set(part, setTimeout(read, Math.max(0, (readAt.get(part) ?? 0) + everyMs - Date.now())))
  }
  const close = () => {
    stream?.close()
    stream = undefined
    clearTimeout(again)
    for (const timer of due.values()) clearTimeout(timer)
  }
  const open = () => {
    if (stream || document.hidden) return
    // What was planned when the page was hidden.
    const planned = [...due.keys()]
    due.clear()
    for (const part of planned) plan(part)
    stream = new EventSource(`/api/v1/changes${last === '' ? '' : `?after=${last}`}`)
    stream.onmessage = ({ data, lastEventId }) => {
      last = lastEventId
      for (const part of partsOf(data)) plan(part)
    }
    stream.onerror = () => {
      if (stream?.readyState !== EventSource.CLOSED) return
      stream = undefined
      again = setTimeout(open, AGAIN_MS)
    }
  }
  const look = () => (document.hidden ? close() : open())
  document.addEventListener('visibilitychange', look)
  open()
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
  }
}
