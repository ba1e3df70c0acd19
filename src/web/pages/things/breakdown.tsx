/** The largest groups of a thing's usage by another dimension, each a link to its own page. */
import { Anchor, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { addressOfGroup } from '../../parts/thing-address.ts'
import { type Dimension, keyOf, labelOf, narrowed, pluralOf } from '../../parts/usage/dimensions.ts'
import { GroupLine, GroupList } from '../../parts/usage/group-list.tsx'
import { GroupPanel } from '../../parts/usage/group-panel.tsx'
import { measureOf } from '../../parts/usage/measures.ts'
import type { Result } from '../../parts/usage/usage.ts'
import { useNear } from '../../parts/when-near.tsx'
import { groupsQuery } from './first-requests.ts'
import type { UsagePeriod } from './usage-period.ts'

/** The number of groups shown; the report has the rest. */
const SHOWN = 6

interface BreakdownProps {
  filter: EntryQuery
  dimension: Dimension
  measure: 'cost' | 'tokens'
  basis: CostBasis
  period: UsagePeriod
}

export function Breakdown({ filter, dimension, measure, basis, period: { period, name } }: BreakdownProps) {
  const near = useNear<HTMLDivElement>()
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...groupsQuery(filter, period, dimension, basis),
    enabled: near.isNear,
  })
  const { of } = measureOf(measure)
  const sizeOf = (group: Result) => of(group) ?? 0
  // What another dimension was grouped by has no values of this one.
  const groups = data?.group_by[0] === dimension ? (data.data[0]?.results ?? []) : undefined
  const ordered = groups?.toSorted((one, other) => sizeOf(other) - sizeOf(one))
  const all = ordered?.reduce((sum, group) => sum + sizeOf(group), 0) ?? 0
  return (
    <GroupPanel near={near} dimension={dimension} isLoading={!ordered && !error} isStale={isPlaceholderData}>
      {error && !data && <Failure error={error} retry={refetch} />}
      <GroupList>
        {ordered?.slice(0, SHOWN).map((group) => (
          <Line
            key={keyOf(group, dimension) ?? ' none'}
            group={group}
            {...{ filter, dimension, measure, basis, name }}
            share={all > 0 ? sizeOf(group) / all : 0}
          />
        ))}
      </GroupList>
      {ordered && ordered.length > SHOWN && (
        <Anchor
          component={Link}
          href={addressOf('/reports', {
            ...filter,
            by: dimension,
            period: name ?? '12m',
            measure: measure === 'cost' ? undefined : measure,
          })}
          size="xs"
          mt={6}
          display="inline-block"
        >
          {name === undefined ? 'Show all in reports' : `Show all ${count(ordered.length)} in reports`}
          <VisuallyHidden>: {pluralOf(dimension)}</VisuallyHidden>
        </Anchor>
      )}
    </GroupPanel>
  )
}

interface LineProps extends Omit<BreakdownProps, 'period'> {
  group: Result
  name: string | undefined
  share: number
}

function Line({ group, filter, dimension, measure, basis, name, share }: LineProps) {
  const key = keyOf(group, dimension)
  const narrow = narrowed(filter, [[dimension, key]])
  return (
    <GroupLine
      label={labelOf(group, dimension)}
      figures={group}
      measure={measure}
      basis={basis}
      share={share}
      page={addressOfGroup(dimension, key, name)}
      entries={narrow && addressOf('/entries', { ...narrow, period: name })}
    />
  )
}
