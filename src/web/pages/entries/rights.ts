/**
 * What a person may do with an entry, depending on its status, their role and the projects they lead or approve for. This only decides
 * which actions are offered; the server enforces the rights: docs/design/states.md, "Who may change a state".
 */
import type { Entry } from '../../parts/entries/entry.ts'
import { type Me, seesEverything } from '../../server/me.ts'

/** Counts, cost and assignment of these entries cannot change. */
const LOCKED: Entry['status'][] = ['pending', 'approved', 'billed', 'voided']

export const isLocked = ({ status }: Pick<Entry, 'status'>): boolean => LOCKED.includes(status)

/** Billed entries are released by voiding or crediting their bill first. */
const VOIDABLE: Entry['status'][] = ['submitted', 'approved', 'rejected']

export interface Rights {
  approve: boolean
  reject: boolean
  reopen: boolean
  withdraw: boolean
  release: boolean
  discard: boolean
  void: boolean
  restore: boolean
  place: boolean
  divide: boolean
  undivide: boolean
  /** Its summary and labels. */
  correct: boolean
  /** Its figures, times, model and provider. */
  correctFigures: boolean
}

export function rightsTo(
  entry: Pick<Entry, 'status' | 'agent_manager' | 'project' | 'sheet' | 'division'>,
  { person, ledIds, approvedIds }: Pick<Me, 'person' | 'ledIds' | 'approvedIds'>,
): Rights {
  const { status } = entry
  const isOwn = entry.agent_manager.id === person.id
  const isOf = (projectIds: string[]) =>
    seesEverything(person.role) || (entry.project !== null && projectIds.includes(entry.project.id))
  const isApprover = isOf(approvedIds)
  const isAnother = isApprover && (!isOwn || person.role === 'admin')
  // Manual entries are approved with their token sheet.
  const isAlone = entry.sheet === null
  const isOpen = !isLocked(entry)
  const mayPlace = isOpen && (isOwn || isOf(ledIds))
  const sendsBills = seesEverything(person.role)
  return {
    approve: isAlone && status === 'submitted' && isAnother,
    reject: isAlone && status === 'submitted' && isApprover,
    reopen: isAlone && status === 'rejected' && isAnother,
    withdraw: isAlone && status === 'approved' && isApprover,
    release: (status === 'held' || status === 'discarded') && sendsBills && isAnother,
    discard: status === 'held' && (sendsBills || isOwn),
    void: isAlone && VOIDABLE.includes(status) && isApprover,
    restore: status === 'voided' && isAnother,
    // Those who only approve do not place.
    place: mayPlace,
    divide: mayPlace && isAlone && status === 'submitted' && entry.division === null,
    undivide: mayPlace && entry.division !== null,
    correct: isOpen && (isOwn || seesEverything(person.role)),
    correctFigures: isOpen && isAlone && entry.division === null && seesEverything(person.role),
  }
}
