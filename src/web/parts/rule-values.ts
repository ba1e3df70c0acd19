/** Conversion of placement rules between form values and API requests. */
import { type ConditionRow, conditionOf, EMPTY_ROW, rowOf } from './condition.ts'
import type { Choice } from './pickers.tsx'
import { projectLabel } from './project-label.ts'
import type { Rule } from './rule.ts'

export interface RuleDraft {
  name: string
  rows: ConditionRow[]
  project: Choice | null
  ticket: string
  /** The position of a new rule; an empty string for the last. */
  position: number | string
}

export const emptyDraft = (): RuleDraft => ({ name: '', rows: [EMPTY_ROW], project: null, ticket: '', position: '' })

export const draftOf = ({ name, conditions, project, ticket }: Rule): RuleDraft => ({
  name,
  rows: conditions.map(rowOf),
  project: { value: project.id, label: projectLabel(project) },
  ticket: ticket ?? '',
  position: '',
})

/** Whether it is complete enough to be tested. */
export const isComplete = ({ rows, project }: RuleDraft): boolean =>
  project !== null &&
  rows.length > 0 &&
  rows.every(({ field, label, text }) => text !== '' && (field !== 'labels' || label !== ''))

export const bodyOf = ({ name, rows, project, ticket }: RuleDraft) => ({
  name: name.trim(),
  conditions: rows.map(conditionOf),
  project: project?.value ?? '',
  ticket: ticket.trim() === '' ? null : ticket.trim(),
})

/** As {@link bodyOf}, for a new rule. */
export const newBodyOf = (draft: RuleDraft) => ({
  ...bodyOf(draft),
  ...(draft.position === '' ? {} : { position: Number(draft.position) }),
})

/**
 * The form's field of each pointer.
 * @param root the pointer of the rule in the request
 */
export function fieldsOf({ rows }: RuleDraft, root = ''): Record<string, string> {
  const fields: Record<string, string> = { [`${root}/conditions`]: 'rows' }
  for (const name of ['name', 'project', 'ticket', 'position']) fields[`${root}/${name}`] = name
  for (const [index, { field }] of rows.entries()) {
    fields[`${root}/conditions/${index}/field`] = `rows.${index}.${field === 'labels' ? 'label' : 'field'}`
    fields[`${root}/conditions/${index}/matches`] = `rows.${index}.text`
  }
  return fields
}
