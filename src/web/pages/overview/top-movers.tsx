/** What changed and why: the groups with the largest increases and decreases since the previous period. */
import { Anchor, Group, Paper, SimpleGrid, Skeleton, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { counted, percent, roughCount } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { periodInWords } from '../../parts/period.ts'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { comparison, entriesOf, type Measure } from './groups.ts'
import { type Mover, moversOf } from './movers.ts'
import classes from './overview.module.css'
import { type Scope, scopeBefore } from './scope.ts'
import { type Chosen, groupsIn, type Shown } from './usage.ts'

const IN_WORDS = { project: 'project', model: 'model', agent_manager: 'person' } as const

const inWords = (amount: number, measure: Measure): string => (measure === 'cost' ? money(amount) : roughCount(amount))

/** Of five changes in each direction: what is below stays below while they load. */
const ROOM_PX = 274

export function TopMovers({ scope, data, isStale, chosen }: Shown) {
  const { dimension, measure } = chosen
  const before = scopeBefore(scope)
  const [now, earlier] = [data?.groups, data?.previous].map((report) => groupsIn(report, dimension))
  const movers = now && earlier && moversOf(now, earlier, { dimension, measure })
  return (
    <Paper withBorder p="md" opacity={isStale ? 0.55 : 1}>
      <Group justify="space-between" gap="xs" mb="xs">
        <CardTitle>What changed, by {IN_WORDS[dimension]}</CardTitle>
        <Anchor component={Link} href={comparison(undefined, scope, chosen)} size="sm">
          Compare all
        </Anchor>
      </Group>
      {!movers && <Skeleton height={ROOM_PX} />}
      {movers && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" verticalSpacing="sm">
          <Direction title="Increases" none="No increases" movers={movers.up} scope={scope} chosen={chosen} />
          <Direction title="Decreases" none="No decreases" movers={movers.down} scope={scope} chosen={chosen} />
        </SimpleGrid>
      )}
      <Caption mt="xs">
        Compared with {periodInWords(before.period)}.
        {movers &&
          movers.unknown > 0 &&
          ` ${counted(movers.unknown, 'change')} unknown, because ${scope.basis === 'cost' || scope.basis === 'list' ? 'prices are missing' : 'it is not known what was paid'}.`}
      </Caption>
    </Paper>
  )
}

interface DirectionProps {
  scope: Scope
  chosen: Chosen
  title: string
  none: string
  movers: readonly Mover[]
}

const Direction = ({ title, none, movers, scope, chosen }: DirectionProps) => (
  <section>
    <Title order={3} size="sm" c="dimmed" fw={500}>
      {title}
    </Title>
    {movers.length === 0 && <Note mt={6}>{none} since the previous period.</Note>}
    <ol className={classes.movers}>
      {movers.map((mover) => (
        <Line key={keyOf(mover.group, chosen.dimension) ?? ''} mover={mover} scope={scope} chosen={chosen} />
      ))}
    </ol>
  </section>
)

function Line({ mover, scope, chosen }: Pick<DirectionProps, 'scope' | 'chosen'> & { mover: Mover }) {
  const { group, now, before, change, share } = mover
  const { dimension, measure } = chosen
  const amount = (value: number, of: Scope) => {
    const to = entriesOf(group, dimension, of)
    const shown = inWords(value, measure)
    // Without usage there is no list whose total is 0.
    if (to === undefined || value === 0) return shown
    return (
      <FigureLink figure={measure} value={value} basis={of.basis} to={to}>
        {shown}
      </FigureLink>
    )
  }
  return (
    <li>
      <Anchor component={Link} href={comparison(group, scope, chosen)} size="sm" truncate>
        <bdi>{labelOf(group, dimension)}</bdi>
      </Anchor>
      <Text span size="sm" fw={600} className={classes.amount}>
        {change > 0 ? '+' : ''}
        {inWords(change, measure)}
      </Text>
      <Caption span>
        {amount(before, scopeBefore(scope))} → {amount(now, scope)}
      </Caption>
      <Caption span className={classes.amount}>
        {percent(share)} of {change > 0 ? 'increases' : 'decreases'}
      </Caption>
    </li>
  )
}
