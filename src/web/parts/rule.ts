/** A placement rule as a person writes it, and as the API has it. */
import { answer, api, type Body } from '../server/api.ts'
import { type ConditionRow, conditionOf, EMPTY_ROW, rowOf } from './condition.ts'
import type { Choice } from './pickers.tsx'
import { projectLabel } from './pickers.tsx'

const rules = api['placement-rules']

export type Rule = Body<Awaited<ReturnType<typeof rules.get>>>['data'][number]
export type Explanation = Body<Awaited<ReturnType<typeof rules.test.post>>>
export type Sample = Parameters<typeof rules.test.post>[0]['sample']

/** Every rule, in their order; all pages that need one share the answer. */
export const askRules = () => answer(rules.get())

export interface RuleDraft {
  name: string
  rows: ConditionRow[]
  project: Choice | null
  ticket: string
  /** Of a new one; an empty text for the last. */
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

/** Whether it says enough to be tried. */
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

/** As {@link bodyOf}, of a rule that is added. */
export const newBodyOf = (draft: RuleDraft) => ({
  ...bodyOf(draft),
  ...(draft.position === '' ? {} : { position: Number(draft.position) }),
})

/**
 * The form's field of each pointer.
 * @param root where the rule stands in what was sent
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
