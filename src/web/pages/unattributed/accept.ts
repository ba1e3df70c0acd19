/** Assigns groups where their branches, summaries or repositories suggest, at once and with a way back. */
import { counted } from '../../format/counts.ts'
import { type ActionResults, act, CHANGED_BY_ENTRIES } from '../../parts/entries/entry.ts'
import { queryOfList } from '../../parts/entries/filters.ts'
import { tellUndo } from '../../parts/undo.tsx'
import { asProblem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { notify, tellProblem, useSend } from '../../server/send.ts'
import { type Group, placeOf } from './groups.ts'

/** Entries that one action can name. */
const ACTION_LIMIT = 1_000

interface Accepted {
  group: Group
  results: ActionResults
}

async function place(group: Group): Promise<Accepted> {
  const { ticket, project } = group.suggestion!
  const place = ticket === null ? { project: project!.id } : { ticket }
  return { group, results: await act({ query: queryOfList(group.list) }, { action: 'place', ...place }) }
}

/** Assigns groups one after the other. What was assigned before one fails can be undone, too. */
async function placeAll(groups: readonly Group[]): Promise<Accepted[]> {
  const accepted: Accepted[] = []
  for (const group of groups) {
    try {
      accepted.push(await place(group))
    } catch (error) {
      if (accepted.length === 0) throw error
      tellProblem(asProblem(error))
      break
    }
  }
  return accepted
}

export function useAccept() {
  const { mutate, isPending, variables } = useSend({
    send: placeAll,
    changes: CHANGED_BY_ENTRIES,
    after: tellAccepted,
  })
  const acceptAll = (groups: readonly Group[]) => {
    const suggested = groups.filter(({ suggestion }) => suggestion)
    if (suggested.length > 0 && !isPending) mutate(suggested)
  }
  return {
    /** Assigns those that have a suggestion; nothing while others are being assigned. */
    acceptAll,
    accept: (group: Group) => acceptAll([group]),
    /** The paths of the groups that are being assigned; undefined if none are. */
    accepting: isPending ? new Set(variables.map(({ list }) => list)) : undefined,
  }
}

function tellAccepted(accepted: Accepted[]): void {
  const sum = (of: (results: ActionResults) => number) => accepted.reduce((sum, { results }) => sum + of(results), 0)
  const done = sum((results) => results.done)
  const refused = sum((results) => results.refused)
  const skipped = refused > 0 ? ` ${counted(refused, 'entry is', 'entries are')} locked and unchanged.` : ''
  const message =
    accepted.length === 1
      ? `${counted(done, 'entry', 'entries')} assigned to ${placeOf(accepted[0]!.group)}.${skipped}`
      : `${counted(done, 'entry', 'entries')} in ${accepted.length} groups assigned where suggested.${skipped}`
  if (done === 0) {
    notify(message)
    return
  }
  const ids = accepted.flatMap(({ results }) =>
    results.results.flatMap(({ id, result }) => (result === 'done' ? [id] : [])),
  )
  tellUndo(message, 'Undo', async () => {
    try {
      let undone = 0
      for (let from = 0; from < ids.length; from += ACTION_LIMIT) {
        undone += (await act({ ids: ids.slice(from, from + ACTION_LIMIT) }, { action: 'unplace' })).done
      }
      notify(`${counted(undone, 'entry is', 'entries are')} unattributed again.`)
    } catch (error) {
      tellProblem(asProblem(error))
    } finally {
      await forget(CHANGED_BY_ENTRIES)
    }
  })
}
