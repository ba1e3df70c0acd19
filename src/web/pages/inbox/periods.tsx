/** Periods of plans that have ended and are not closed. */
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { dayInWords } from '../../format/moments.ts'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { Failure } from '../../parts/failure.tsx'
import { Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { apiQuery } from '../../server/api.ts'
import { Row, Rows } from './row.tsx'
import { pressedBy } from './rows.ts'

export function UnclosedPeriods() {
  const { data, error, refetch } = useQuery(
    apiQuery(['plans', 'unclosed'], (api) => api.plans.periods.get({ query: { unclosed: 'true' } })),
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  return (
    <Rows label="Periods of plans to close">
      {data.data.map(({ plan, fee_usd, ...period }) => (
        <Row
          key={`${plan.id} ${period.from}`}
          title={<bdi>{plan.name}</bdi>}
          detail={`${spanInWords(period)} has ended: close it, so that its shares stay`}
          numbers={<Money amount={fee_usd} />}
          actions={
            <Anchor
              component={Link}
              href={`/plans/${plan.id}`}
              size="sm"
              aria-label={`Open the period from ${dayInWords(period.from)} of ${plan.name}`}
              {...pressedBy('Enter')}
            >
              Open
            </Anchor>
          }
        />
      ))}
    </Rows>
  )
}
