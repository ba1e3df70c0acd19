/** The largest groups by cost or tokens, with links to their entries. */
import { Anchor, VisuallyHidden } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { addressOfGroup } from '../../parts/thing-address.ts'
import { type Dimension, keyOf, labelOf, pluralOf } from '../../parts/usage/dimensions.ts'
import { GroupLine, GroupList } from '../../parts/usage/group-list.tsx'
import { GroupPanel } from '../../parts/usage/group-panel.tsx'
import type { Result } from '../../parts/usage/usage.ts'
import { useNear } from '../../parts/when-near.tsx'
import { entriesOf, groupsReport, type Measure, measured } from './groups.ts'
import type { Scope } from './scope.ts'
import { groupsIn, type Shown, useGroups } from './usage.ts'

export const LARGEST = ['project', 'ticket', 'model', 'agent_manager', 'agent_harness'] as const satisfies Dimension[]
type LargestDimension = (typeof LARGEST)[number]

/** The number of groups shown. */
const SHOWN = 6

export function Largest({ scope, data, isStale, chosen, dimension }: Shown & { dimension: LargestDimension }) {
  const { measure } = chosen
  const near = useNear<HTMLDivElement>()
  const isChosen = dimension === chosen.dimension
  const own = useGroups(scope, dimension, near.isNear && !isChosen)
  const all = isChosen ? groupsIn(data?.groups, dimension) : own.data
  const groups = all?.toSorted((one, other) => measured(other, measure) - measured(one, measure))
  const sum = groups?.reduce((before, group) => before + measured(group, measure), 0) ?? 0
  const more = (groups?.length ?? 0) - SHOWN
  return (
    <GroupPanel
      near={near}
      dimension={dimension}
      isLoading={!groups}
      isStale={isChosen ? isStale : own.isPlaceholderData}
    >
      <GroupList>
        {groups?.slice(0, SHOWN).map((group) => (
          <Line
            key={keyOf(group, dimension) ?? ''}
            group={group}
            dimension={dimension}
            measure={measure}
            scope={scope}
            share={sum > 0 ? measured(group, measure) / sum : 0}
          />
        ))}
      </GroupList>
      {more > 0 && (
        <Anchor
          component={Link}
          href={groupsReport(scope, { dimension, measure })}
          size="xs"
          mt={6}
          display="inline-block"
        >
          Show all {count(SHOWN + more)} in reports
          <VisuallyHidden>: {pluralOf(dimension)}</VisuallyHidden>
        </Anchor>
      )}
    </GroupPanel>
  )
}

interface LineProps {
  scope: Scope
  dimension: LargestDimension
  measure: Measure
  group: Result
  share: number
}

const Line = ({ group, dimension, measure, scope, share }: LineProps) => (
  <GroupLine
    label={labelOf(group, dimension)}
    figures={group}
    measure={measure}
    basis={scope.basis}
    share={share}
    page={addressOfGroup(dimension, keyOf(group, dimension), scope.name)}
    entries={entriesOf(group, dimension, scope)}
  />
)
