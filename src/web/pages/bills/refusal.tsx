/** Asks how to handle unpriced and earlier entries, without which the API does not compose the bill. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Problem } from '../../server/problem.ts'
import type { BillForm } from './new-bill-fields.tsx'
import { entriesBefore, entriesIn } from './new-bill-values.ts'

export const Refusal = ({ form, problem }: { form: BillForm; problem: Problem }) => {
  const isUnpriced = problem.code === 'unpriced_entries'
  // The sentences after the first are advice for API clients.
  const [summary] = problem.message.split(/(?<=\.) /)
  return (
    <Alert
      color="orange"
      variant="light"
      title={isUnpriced ? 'Some entries have no price' : 'Some earlier entries are unbilled'}
      role="status"
    >
      <Stack gap="sm">
        <Text size="sm">
          {summary} {isUnpriced ? 'Unpriced entries cannot be billed.' : 'Do you want to include them?'}
        </Text>
        <Group gap="xs">{isUnpriced ? <UnpricedChoices form={form} /> : <EarlierChoices form={form} />}</Group>
      </Stack>
    </Alert>
  )
}

const UnpricedChoices = ({ form }: { form: BillForm }) => (
  <>
    <Button component={Link} href={entriesIn(form.values, { priced: 'false' })} size="xs">
      View entries
    </Button>
    <Button component={Link} href="/prices?tab=unpriced" size="xs" variant="default">
      Set model prices
    </Button>
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
