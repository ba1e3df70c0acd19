/** How the person wants pages to look: locale, density, and the columns of tables. Kept by the server. */
import { setLocale } from '../format/locale.ts'
import { answer, api } from './api.ts'
import { type Me, useMe } from './me.ts'
import { queryClient } from './queries.ts'
import { useSend } from './send.ts'

type Change = NonNullable<Parameters<typeof api.me.preferences.patch>[0]>

/** The columns of a table: the visible ones, and widths in CSS pixels. */
export interface TableView {
  columns?: string[]
  widths?: Record<string, number>
}

/** One after the other: each change of a table contains the ones before it. */
let last: Promise<unknown> = Promise.resolve()

export const usePreferences = () => useMe().preferences

/** Changes some preferences, which show at once. */
export function useChangePreferences() {
  const { settings } = useMe()
  return useSend({
    send: (change: Change) => {
      if (change.locale !== undefined) setLocale(change.locale, settings.locale)
      queryClient.setQueryData<Me | null>(['me'], (me) => me && { ...me, preferences: changed(me.preferences, change) })
      const sent = last.then(() => answer(api.me.preferences.patch(change)))
      last = sent.catch(() => undefined)
      return sent
    },
    changes: [],
  })
}

function changed(before: Me['preferences'], { tables = {}, ...change }: Change): Me['preferences'] {
  const kept = Object.entries({ ...before.tables, ...tables }).filter(([, table]) => table !== null)
  return { ...before, ...change, tables: Object.fromEntries(kept) } as Me['preferences']
}
