/** One condition of a rule in the fields of a form, and as the API has it. Pure. */

export interface Condition {
  field: string
  matches: string
}

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

export const EMPTY_ROW: ConditionRow = {
  field: 'labels',
  label: 'repository',
  kind: 'glob',
  text: '',
  ignoresCase: false,
}

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

const TITLES = new Map<string, string>(FIELDS.map(({ value, label }) => [value, label]))

/** What a condition looks at, in words: `Harness`, `Label branch`. */
export const fieldTitle = (field: string): string =>
  field.startsWith(LABEL) ? `Label ${field.slice(LABEL.length)}` : (TITLES.get(field) ?? field)

const GROUP = /\(\?P?<([A-Za-z_]\w*)>/g

/** The named groups that the expressions of a draft have: what a ticket can be made of. */
export const groupsIn = (rows: readonly ConditionRow[]): string[] =>
  rows.flatMap(({ kind, text }) => (kind === 'expression' ? [...text.matchAll(GROUP)].map(([, name]) => name!) : []))
