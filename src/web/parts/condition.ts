/** Conditions of a rule, as form fields and in the API. Pure. */

export interface Condition {
  field: string
  matches: string
}

/** The fields that a condition can match. A label also has a name. */
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
  /** Only if the field is `labels`. */
  label: string
  kind: Kind
  text: string
  /** Only for expressions; globs always ignore case. */
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
/** An expression is written between slashes; anything else is a glob, as in the API. */
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

/** The title of a condition's field: `Harness`, `Branch`, or `Label team` for a label that agents do not set. */
export function fieldTitle(field: string): string {
  if (!field.startsWith(LABEL)) return TITLES.get(field) ?? field
  const label = field.slice(LABEL.length)
  return label === 'repository' ? 'Repository' : label === 'branch' ? 'Branch' : `Label ${label}`
}

const GROUP = /\(\?P?<([A-Za-z_]\w*)>/g

/** The named groups in the expressions of a draft, which the ticket can use. */
export const groupsIn = (rows: readonly ConditionRow[]): string[] =>
  rows.flatMap(({ kind, text }) => (kind === 'expression' ? [...text.matchAll(GROUP)].map(([, name]) => name!) : []))
