/** Which reports can show what was billed without showing the cost: the rule of share links and of their dialog. Pure. */

/** With models, of which prices are public, billed amounts would show the markup. */
const BILLED_DIMENSIONS = ['client', 'project', 'ticket', 'agent_manager']
export const BILLED_FILTERS = ['client', 'project']

/** The parameters of a report that do not select entries, or select their period. */
export const NOT_FILTERS = [
  ...['period', 'starting_at', 'ending_at', 'time_zone', 'bucket_width', 'week_start'],
  ...['group_by', 'basis', 'measure', 'chart', 'compare', 'sort', 'order', 'names'],
]

const DIMENSION_LIMIT = 2

export interface BilledIssue {
  field: string
  code: 'not_allowed' | 'required'
  message: string
}

/** Why a report cannot show billed amounts; nothing if it can. */
export function billedIssues(report: Record<string, string | string[] | undefined>): BilledIssue[] {
  const given = Object.keys(report).filter((name) => report[name] !== undefined)
  const dimensions = [report.group_by ?? []].flat()
  const named = BILLED_FILTERS.flatMap((name) => report[name] ?? [])
  const isGrouped = dimensions.every((each) => BILLED_DIMENSIONS.includes(each)) && dimensions.length <= DIMENSION_LIMIT
  return [
    ...given
      .filter((name) => ![...BILLED_FILTERS, ...NOT_FILTERS].includes(name))
      .map((field) => ({
        field,
        code: 'not_allowed' as const,
        message: 'is not possible with billed amounts, which are of clients and projects',
      })),
    ...(isGrouped
      ? []
      : [
          {
            field: 'group_by',
            code: 'not_allowed' as const,
            message: `must have at most ${DIMENSION_LIMIT} of ${BILLED_DIMENSIONS.join(', ')} with billed amounts`,
          },
        ]),
    ...(named.length === 0 || named.includes('none')
      ? [
          {
            field: 'client',
            // `none` names none.
            code: named.length === 0 ? ('required' as const) : ('not_allowed' as const),
            message: 'must name the clients whose billed amounts are shown, or project their projects',
          },
        ]
      : []),
  ]
}
