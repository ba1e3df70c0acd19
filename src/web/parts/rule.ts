/** A placement rule as a person writes it, and as the API has it. */
import { answer, api, type Body } from '../server/api.ts'
import type { Choice } from './pickers.tsx'
import { projectLabel } from './pickers.tsx'

const rules = api['placement-rules']

export type Rule = Body<Awaited<ReturnType<typeof rules.get>>>['data'][number]
export type Condition = Rule['conditions'][number]
export type Explanation = Body<Awaited<ReturnType<typeof rules.test.post>>>
export type Sample = Parameters<typeof rules.test.post>[0]['sample']

/** Every rule, in their order; all pages that need one share the answer. */
export const askRules = () => answer(rules.get())

/** What a condition looks at. A label has a name besides. */
export const FIELDS = [
  { value: 'labels', label: 'Label' },
  { value: 'agent_harness', label: 'Harness' },
  { value: 'agent_name', label: 'Agent' },
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'agent_manager', label: 'Agent manager' },
  { value: 'summary', label: 'Summary' },
] as const

export type Kind = 'glob' | 'expression'

/** A condition in the fields of a form. */
export interface ConditionRow {
  field: string
  /** Of `labels` only. */
  label: string
  kind: Kind
  text: string
  /** Of an expression; globs always do. */
  ignoresCase: boolean
}

export interface RuleDraft {
  name: string
  rows: ConditionRow[]
  project: Choice | null
  ticket: string
  /** Of a new one; an empty text for the last. */
  position: number | string
}

export const EMPTY_ROW: ConditionRow = {
  field: 'labels',
  label: 'repository',
  kind: 'glob',
  text: '',
  ignoresCase: false,
}

export const emptyDraft = (): RuleDraft => ({ name: '', rows: [EMPTY_ROW], project: null, ticket: '', position: '' })

export const draftOf = ({ name, conditions, project, ticket }: Rule): RuleDraft => ({
  name,
  rows: conditions.map(rowOf),
  project: { value: project.id, label: projectLabel(project) },
  ticket: ticket ?? '',
  position: '',
})

const LABEL = 'labels.'
/** An expression stands between slashes, all else is a glob; the API tells them apart likewise. */
const EXPRESSION = /^\/(.+)\/(i?)$/s

export function rowOf({ field, matches }: Condition): ConditionRow {
  const [, source, flag] = EXPRESSION.exec(matches) ?? []
  const isLabel = field.startsWith(LABEL)
  return {
    field: isLabel ? 'labels' : field,
    label: isLabel ? field.slice(LABEL.length) : '',
    kind: source === undefined ? 'glob' : 'expression',
    text: source ?? matches,
    ignoresCase: flag === 'i',
  }
}

export const conditionOf = ({ field, label, kind, text, ignoresCase }: ConditionRow): Condition => ({
  field: field === 'labels' ? `${LABEL}${label.trim()}` : field,
  matches: kind === 'glob' ? text : `/${text}/${ignoresCase ? 'i' : ''}`,
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

const TITLES = new Map<string, string>(FIELDS.map(({ value, label }) => [value, label]))

/** What a condition looks at, in words: `Harness`, `Label branch`. */
export const fieldTitle = (field: string): string =>
  field.startsWith(LABEL) ? `Label ${field.slice(LABEL.length)}` : (TITLES.get(field) ?? field)

const GROUP = /\(\?P?<([A-Za-z_]\w*)>/g

/** The named groups that the expressions of a draft have: what a ticket can be made of. */
export const groupsIn = (rows: readonly ConditionRow[]): string[] =>
  rows.flatMap(({ kind, text }) => (kind === 'expression' ? [...text.matchAll(GROUP)].map(([, name]) => name!) : []))
