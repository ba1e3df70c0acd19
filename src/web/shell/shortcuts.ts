/** Keys that work on every page, unless one is typing. */
import { useEffect } from 'react'
import { useLocation } from 'wouter'

/** What is gone to with `g` and a key. Not the whole section, whose page would come along. */
interface Destination {
  path: string
  key: string
}

/** Those that pages and tables listen to; shown beside the ones of the menu. */
export const SHORTCUTS = [
  { keys: ['/'], does: 'Search on this page' },
  { keys: ['j'], does: 'Next row' },
  { keys: ['k'], does: 'Row before' },
  { keys: ['Enter'], does: 'Open the row' },
  { keys: ['x'], does: 'Select the row' },
  { keys: ['Esc'], does: 'Close what is open' },
  { keys: ['?'], does: 'Show the keys' },
]

/** After `g` the next key must follow within it, or it is typed for something else. */
const SECOND_KEY_MS = 1_200

/** Whether a key that was pressed belongs to a field, a menu or a dialogue instead. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, [role="menu"], [role="listbox"]') !== null
}

const isDialogueOpen = () => document.querySelector('[role="dialog"]') !== null

export function useShortcuts({ sections, help }: { sections: readonly Destination[]; help: () => void }) {
  const [, navigate] = useLocation()
  useEffect(() => {
    let goPressedAt = 0
    const listen = (event: KeyboardEvent) => {
      if (isTyping(event) || isDialogueOpen()) return
      const { key } = event
      if (event.timeStamp - goPressedAt < SECOND_KEY_MS) {
        goPressedAt = 0
        const section = sections.find((section) => section.key === key)
        if (section) {
          event.preventDefault()
          navigate(section.path)
        }
      } else if (key === 'g') {
        goPressedAt = event.timeStamp
      } else if (key === '?') {
        help()
      } else if (key === '/') {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
        if (search) {
          event.preventDefault()
          search.focus()
        }
      }
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [sections, help, navigate])
}
