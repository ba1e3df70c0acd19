/** Asks how to handle unpriced and earlier entries and open periods, without which the API does not compose the bill. */
import { Alert, Anchor, Button, Group, List, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import type { Problem } from '../../server/problem.ts'
import type { BillForm } from './new-bill-fields.tsx'
import { entriesBefore, entriesIn } from './new-bill-values.ts'

export const Refusal = ({ form, problem }: { form: BillForm; problem: Problem }) => {
  if (problem.code === 'period_not_closed') return <OpenPeriods form={form} problem={problem} />
  const isUnpriced = problem.code === 'unpriced_entries'
  // The sentences after the first are advice for API clients.
  const [summary] = problem.message.split(/(?<=\.) /)
  return (
    <Alert
      color="orange"
      variant="light"
      title={isUnpriced ? titleOf(form.values.basis) : 'Some earlier entries are unbilled'}
      role="status"
    >
      <Stack gap="sm">
        <Text size="sm">
          {summary} {isUnpriced ? 'Such entries cannot be billed.' : 'Do you want to include them?'}
        </Text>
        <Group gap="xs">{isUnpriced ? <UnpricedChoices form={form} /> : <EarlierChoices form={form} />}</Group>
      </Stack>
    </Alert>
  )
}

const titleOf = (basis: CostBasis) =>
  basis === 'cost' ? 'Some entries have no price' : `${BASIS_TITLES[basis]} of some entries is unknown`

/** The periods of plans whose shares may still change. */
const OpenPeriods = ({ form, problem: { periods } }: { form: BillForm; problem: Problem }) => (
  <Alert color="orange" variant="light" title="Periods of plans are not closed" role="status">
    <Stack gap="sm">
      <Text size="sm">
        Their shares may still change. Close them first, or bill the shares as they are now: the bill is marked as
        provisional and keeps them, and the difference becomes a correction in the next period.
      </Text>
      <List size="sm">
        {periods.map(({ plan, first_day, last_day, entries }) => (
          <List.Item key={`${plan.id} ${first_day}`}>
            <Anchor component={Link} href={`/plans/${plan.id}`} inherit>
              <bdi>{plan.name}</bdi>
            </Anchor>
            ,{' '}
            {last_day === null
              ? `from ${dayInWords(first_day)}`
              : `${dayInWords(first_day)} to ${dayInWords(last_day)}`}
            : {counted(entries, 'entry', 'entries')}
          </List.Item>
        ))}
      </List>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => form.setFieldValue('provisional', true)}>
          Bill provisionally
        </Button>
      </Group>
    </Stack>
  </Alert>
)

const UnpricedChoices = ({ form }: { form: BillForm }) => (
  <>
    {form.values.basis === 'cost' ? (
      <>
        <Button component={Link} href={entriesIn(form.values, { priced: 'false' })} size="xs">
          View entries
        </Button>
        <Button component={Link} href="/prices?tab=unpriced" size="xs" variant="default">
          Set model prices
        </Button>
      </>
    ) : (
      <Button component={Link} href={entriesIn(form.values, { funding: ['unknown'] })} size="xs">
        View entries of unknown funding
      </Button>
    )}
    <Button size="xs" variant="default" onClick={() => form.setFieldValue('leave_unpriced', true)}>
      Leave them out
    </Button>
  </>
)

const EarlierChoices = ({ form }: { form: BillForm }) => (
  <>
    <Button size="xs" onClick={() => form.setFieldValue('include_earlier', true)}>
      Include them
    </Button>
    <Button size="xs" variant="default" onClick={() => form.setFieldValue('include_earlier', false)}>
      Leave them for another bill
    </Button>
    <Button
      component={Link}
      href={entriesBefore(form.values, { bill: 'none', status: ['submitted', 'approved'] })}
      size="xs"
      variant="subtle"
    >
      View entries
    </Button>
  </>
)
