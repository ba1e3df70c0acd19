/** Assigns a group where its branches, summaries or repository suggest, at once and with a way back. */
import { counted } from '../../format/counts.ts'
import { type ActionResults, act, CHANGED_BY_ENTRIES } from '../../parts/entries/entry.ts'
import { queryOfList } from '../../parts/entries/filters.ts'
import { tellUndo } from '../../parts/undo.tsx'
import { asProblem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { notify, tellProblem, useSend } from '../../server/send.ts'
import { type Group, placeOf } from './groups.ts'

interface Accepted {
  group: Group
  results: ActionResults
}

export function useAccept() {
  const { mutate, isPending, variables } = useSend({
    send: async (group: Group): Promise<Accepted> => {
      const { ticket, project } = group.suggestion!
      const place = ticket === null ? { project: project!.id } : { ticket }
      return { group, results: await act({ query: queryOfList(group.list) }, { action: 'place', ...place }) }
    },
    changes: CHANGED_BY_ENTRIES,
    after: tellAccepted,
  })
  return {
    /** Nothing without a suggestion, or while another group is being assigned. */
    accept: (group: Group) => {
      if (group.suggestion && !isPending) mutate(group)
    },
    /** The path of the group that is being assigned. */
    accepting: isPending ? variables.list : undefined,
  }
}

function tellAccepted({ group, results: { results, done, refused } }: Accepted): void {
  const skipped = refused > 0 ? ` ${counted(refused, 'entry is', 'entries are')} locked and unchanged.` : ''
  const message = `${counted(done, 'entry', 'entries')} assigned to ${placeOf(group)}.${skipped}`
  if (done === 0) {
    notify(message)
    return
  }
  const ids = results.flatMap(({ id, result }) => (result === 'done' ? [id] : []))
  tellUndo(message, 'Undo', async () => {
    try {
      const undone = await act({ ids }, { action: 'unplace' })
      notify(`${counted(undone.done, 'entry is', 'entries are')} unattributed again.`)
    } catch (error) {
      tellProblem(asProblem(error))
    } finally {
      await forget(CHANGED_BY_ENTRIES)
    }
  })
}
