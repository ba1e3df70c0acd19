/** The thresholds of a budget, and who is notified. */
import { ActionIcon, Button, Checkbox, Group, Paper, Select, SimpleGrid, Stack, TagsInput, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { CountField } from '../../parts/number-fields.tsx'
import { PeopleField } from '../../parts/people-field.tsx'
import { Caption } from '../../parts/texts.tsx'
import { newThreshold } from './budget-values.ts'
import classes from './budgets.module.css'
import type { BudgetFormState } from './form-state.ts'

/** The API's limit. */
const THRESHOLD_LIMIT = 10

const OF = [
  { value: 'spent', label: 'is spent' },
  { value: 'forecast', label: 'is forecast' },
]

export function ThresholdFields({ form }: { form: BudgetFormState }) {
  const { thresholds } = form.values
  return (
    <Stack gap="xs" component="fieldset" className={classes.fieldset}>
      <Text component="legend" size="sm" fw={600}>
        Thresholds
      </Text>
      <Caption>Sends one e-mail per period to the people you choose. Forecasts are checked once an hour.</Caption>
      {thresholds.map((_, index) => (
        // Thresholds have no id.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <OneThreshold key={index} form={form} index={index} />
      ))}
      {form.errors.thresholds && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {form.errors.thresholds}
        </Text>
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        disabled={thresholds.length >= THRESHOLD_LIMIT}
        onClick={() => form.insertListItem('thresholds', newThreshold(''))}
      >
        Add threshold
      </Button>
    </Stack>
  )
}

function OneThreshold({ form, index }: { form: BudgetFormState; index: number }) {
  const nth = `Threshold ${index + 1}`
  const input = (name: string) => form.getInputProps(`thresholds.${index}.${name}`)
  const box = (name: string) => form.getInputProps(`thresholds.${index}.${name}`, { type: 'checkbox' })
  const { webhooks } = form.values.thresholds[index]!
  return (
    <Paper withBorder p="xs" role="group" aria-label={nth}>
      <Group gap="xs" align="center" mb="xs">
        <Text size="sm">When</Text>
        <CountField
          aria-label={`${nth}: percentage`}
          w={80}
          size="xs"
          min={1}
          max={1_000}
          unit="%"
          {...input('percent')}
        />
        <Select aria-label={`${nth}: what`} w={130} size="xs" data={OF} allowDeselect={false} {...input('of')} />
        <Text size="sm">notify</Text>
        <Group gap="md" flex={1}>
          <Checkbox size="xs" label="Leads" {...box('leads')} />
          <Checkbox size="xs" label="Billing" {...box('billing')} />
        </Group>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove ${nth.toLowerCase()}`}
          onClick={() => form.removeListItem('thresholds', index)}
        >
          <IconX size={16} />
        </ActionIcon>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" verticalSpacing="xs">
        <PeopleField
          size="xs"
          aria-label={`${nth}: people`}
          placeholder="People, by e-mail address"
          {...input('people')}
        />
        <TagsInput
          size="xs"
          aria-label={`${nth}: other addresses`}
          placeholder="Other addresses"
          {...input('emails')}
        />
      </SimpleGrid>
      {webhooks.length > 0 && (
        <Caption mt={4}>Also sent to {webhooks.length === 1 ? 'a webhook' : `${webhooks.length} webhooks`}.</Caption>
      )}
    </Paper>
  )
}
