/** The form that sets a price manually. */
import { ActionIcon, Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { chargesTexts } from '../../../shared/price-texts.ts'
import { DateField } from '../../parts/date-field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { CountField, DecimalField } from '../../parts/number-fields.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { KINDS, type Kind, priceText, type SetPrice } from './price.ts'
import { PriceChange } from './price-change.tsx'
import { bodyOf, NO_CHARGES, NO_PRICES, type PriceStart, type PriceValues, valuesOf } from './price-values.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valuation.ts'

/** Pico-dollars per token are micro-dollars per million tokens. */
const PRICE_DIGITS = 6

const isMissing = (value: number | string) => (value === '' ? 'Required. Enter 0 if it is free.' : null)

export function PriceForm({ start = {}, close }: { start?: PriceStart; close: () => void }) {
  const form = useForm<PriceValues>({
    initialValues: valuesOf(start),
    validate: {
      model: (model) => (model.trim() === '' ? 'Enter the name that entries report.' : null),
      input: (input, { keepsOthers }) => (keepsOthers ? null : isMissing(input)),
      output: (output, { keepsOthers }) => (keepsOthers ? null : isMissing(output)),
      day: (day, { holds }) => (holds === 'day' && !day ? 'Choose a date.' : null),
      tiers: { from_tokens: (from: number | string) => (from === '' ? 'Required.' : null) },
    },
  })
  const { time_zone } = useSettings()
  const [preview, setPreview] = useState<{ of: string; change: SetPrice }>()
  const shared = { form, fields: { '/effective_from': 'day' } }
  const previewing = useFormSend({
    ...shared,
    send: async (values: PriceValues) => {
      const body = bodyOf(values)
      const change = await answer(api.prices.post({ ...body, dry_run: true }))
      return { of: JSON.stringify(body), change }
    },
    changes: [],
    after: setPreview,
  })
  const setting = useFormSend({
    ...shared,
    send: async (values: PriceValues) => {
      const added = await answer(api.prices.post(bodyOf(values)))
      return { ...added, entries: await valueTheRest(added.valued) }
    },
    changes: PRICE_CHANGES,
    done: ({ added, after, entries }) =>
      added ? `Price of ${after.model} set.${valuedText(entries)}` : 'This price is already set.',
    after: close,
  })
  // A preview of other values would not say what is set.
  const current = preview?.of === JSON.stringify(bodyOf(form.values)) ? preview.change : undefined
  return (
    <FormDialog
      {...(current ? setting : previewing)}
      title="New price"
      action={current ? 'Save price' : 'Preview'}
      close={close}
      size="xl"
    >
      <Note>
        This price takes precedence over all price tables. Entries that already have a list value keep it; entries
        without a price get one now.{form.values.keepsOthers && ' Prices that you leave empty stay as they are.'}
      </Note>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Model"
          description="Exactly as entries report it."
          placeholder="our-coder"
          required
          data-autofocus
          {...form.getInputProps('model')}
        />
        <TextInput
          label="Provider"
          description="Provider that bills you. Leave empty for any provider."
          placeholder="Any"
          {...form.getInputProps('provider')}
        />
      </SimpleGrid>
      <PriceFields form={form} />
      <Tiers form={form} />
      <OtherCharges form={form} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label="Effective from"
          allowDeselect={false}
          data={optionsOf({ usual: 'Today (always if it has no price yet)', always: 'Always', day: 'A date…' })}
          {...form.getInputProps('holds')}
        />
        {form.values.holds === 'day' && (
          <DateField label="Date" description={`Starts at midnight in ${time_zone}.`} {...form.getInputProps('day')} />
        )}
      </SimpleGrid>
      {current && <PriceChange of={current} />}
    </FormDialog>
  )
}

type Form = UseFormReturnType<PriceValues>

const OTHERWISE: Partial<Record<Kind, string>> = {
  cache_read: '= input',
  cache_write: '= input',
  cache_write_1h: '= cache write',
}

const PriceFields = ({ form }: { form: Form }) => (
  <Stack gap={4}>
    <Text size="sm" fw={600}>
      US dollars per million tokens
    </Text>
    <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="xs">
      {KINDS.map(({ kind, title }) => (
        <DecimalField
          key={kind}
          label={title}
          placeholder={form.values.keepsOthers ? 'unchanged' : OTHERWISE[kind]}
          required={!form.values.keepsOthers && OTHERWISE[kind] === undefined}
          min={0}
          digits={PRICE_DIGITS}
          currency="USD"
          {...form.getInputProps(kind)}
        />
      ))}
    </SimpleGrid>
  </Stack>
)

/** Where higher prices of Anthropic and Google begin. */
const USUAL_TIER = 200_001

/** What the form cannot change is kept, and can be left out. */
function OtherCharges({ form }: { form: Form }) {
  const texts = chargesTexts(form.values.charges, priceText)
  if (texts.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Other charges, kept from the current price
      </Text>
      {texts.map((text) => (
        <Note key={text}>{text}</Note>
      ))}
      <Button
        variant="subtle"
        size="compact-sm"
        w="fit-content"
        leftSection={<IconX size={14} />}
        onClick={() => form.setFieldValue('charges', NO_CHARGES)}
      >
        Remove other charges
      </Button>
    </Stack>
  )
}

const Tiers = ({ form }: { form: Form }) => (
  <Stack gap="xs">
    {form.values.tiers.map((_, index) => (
      // Tiers are identified only by their position.
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
        <SimpleGrid cols={{ base: 2, sm: 6 }} spacing="xs" flex={1} style={{ alignItems: 'end' }}>
          <CountField label="From tokens" min={1} {...form.getInputProps(`tiers.${index}.from_tokens`)} />
          {KINDS.map(({ kind, title }) => (
            <DecimalField
              key={kind}
              label={title}
              placeholder="same"
              min={0}
              digits={PRICE_DIGITS}
              currency="USD"
              {...form.getInputProps(`tiers.${index}.${kind}`)}
            />
          ))}
        </SimpleGrid>
        <ActionIcon
          variant="subtle"
          color="gray"
          mb={6}
          aria-label={`Remove long-request price tier ${index + 1}`}
          onClick={() => form.removeListItem('tiers', index)}
        >
          <IconX size={16} />
        </ActionIcon>
      </Group>
    ))}
    <Button
      variant="subtle"
      size="compact-sm"
      w="fit-content"
      leftSection={<IconPlus size={14} />}
      onClick={() => form.insertListItem('tiers', { from_tokens: USUAL_TIER, ...NO_PRICES })}
    >
      Add price tier for long requests
    </Button>
  </Stack>
)
