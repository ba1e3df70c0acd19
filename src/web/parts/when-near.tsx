/**
 * Defers what is below the fold until it is about to be seen. Whoever tabs through the page, searches it or prints it
 * gets all of it, because none of these scrolls first.
 */
import { useIntersection } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { queryClient } from '../server/queries.ts'
import classes from './when-near.module.css'

/** Below the window: what a turn of the wheel scrolls. */
const NEAR = '100px'

/** What each part that is still deferred does to be shown. */
const deferred = new Set<() => void>()

function showAll(): void {
  for (const show of deferred) show()
}

/** For a part whose frame is rendered at once, and whose requests wait until `isNear`. */
export function useNear<Part extends HTMLElement>() {
  const { ref, entry } = useIntersection<Part>({ rootMargin: NEAR })
  const [isNear, setNear] = useState(false)
  const isSeen = entry?.isIntersecting === true
  useEffect(() => {
    if (isNear) return
    const show = () => setNear(true)
    if (isSeen) return show()
    deferred.add(show)
    return () => {
      deferred.delete(show)
    }
  }, [isNear, isSeen])
  return { ref, isNear }
}

interface WhenNearProps {
  /** The class that reserves its height. */
  className?: string | undefined
  children: ReactNode
}

/** For a part that is rendered as a whole, in the room that it will take. */
export function WhenNear({ className, children }: WhenNearProps) {
  const { ref, isNear } = useNear<HTMLDivElement>()
  return (
    <div ref={ref} className={className} data-deferred={!isNear || undefined}>
      {isNear && children}
    </div>
  )
}

/** Keys that browsers search, print, select or save the whole page with, next to Ctrl or ⌘. */
const WHOLE_PAGE = ['f', 'g', 'p', 'a', 's']

const isModified = ({ ctrlKey, metaKey }: KeyboardEvent) => ctrlKey || metaKey

const wantsAll = (event: KeyboardEvent) =>
  ['Tab', 'F3'].includes(event.key) || (isModified(event) && WHOLE_PAGE.includes(event.key.toLowerCase()))

const wantsPrint = (event: KeyboardEvent) =>
  isModified(event) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'p'

/** After this time without a request, all that follows from the last answer is rendered. */
const QUIET_MS = 200

const CHECKED_EVERY_MS = 50

/** Longer than reports take; what is not here by then is printed as loading. */
const PRINT_PATIENCE_MS = 10_000

async function printAll(): Promise<void> {
  // At once, so that the requests have been sent when this returns.
  flushSync(showAll)
  const startedAt = performance.now()
  let busyAt = startedAt
  while (performance.now() - busyAt < QUIET_MS && performance.now() - startedAt < PRINT_PATIENCE_MS) {
    await new Promise((end) => setTimeout(end, CHECKED_EVERY_MS))
    if (queryClient.isFetching() > 0) busyAt = performance.now()
  }
  window.print()
}

/** Used once, in the frame of all pages: a browser’s menu prints the page as it is, which the paper then says. */
export function DeferredParts() {
  const [isPartial, setPartial] = useState(false)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (deferred.size === 0 || !wantsAll(event)) return
      if (!wantsPrint(event)) return showAll()
      event.preventDefault()
      void printAll()
    }
    const begin = () => {
      // At once, because the browser takes the page as it is when the listeners have returned.
      flushSync(() => setPartial(deferred.size > 0))
      showAll()
    }
    const end = () => setPartial(false)
    window.addEventListener('keydown', press)
    window.addEventListener('beforeprint', begin)
    window.addEventListener('afterprint', end)
    return () => {
      window.removeEventListener('keydown', press)
      window.removeEventListener('beforeprint', begin)
      window.removeEventListener('afterprint', end)
    }
  }, [])
  return isPartial ? (
    <p className={classes.partial}>Parts of this page were not loaded when it was printed. Print it again.</p>
  ) : null
}
