/** The fields of an entry's figures, in forms. */
import { SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { COST_DIGITS, CountField, DecimalField } from '../number-fields.tsx'
import { COUNTS, type FigureValues } from './figure-values.ts'

/** A form with at least the figures of an entry. */
export interface FigureForm {
  getInputProps: (field: keyof FigureValues) => object
}

export const FigureFields = ({ form }: { form: FigureForm }) => (
  <Stack gap={4}>
    <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="xs">
      {COUNTS.map(({ kind, title, isRequired }) => (
        <CountField
          key={kind}
          label={title}
          required={isRequired}
          placeholder={isRequired ? undefined : '0'}
          {...form.getInputProps(kind)}
        />
      ))}
    </SimpleGrid>
    <Text size="xs" c="dimmed">
      Each token counts only once: input excludes tokens read from or written to a cache. You can write 515k or 1.23M.
    </Text>
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs" mt={4}>
      <DecimalField
        label="Cost (USD)"
        placeholder="From the price table"
        min={0}
        digits={COST_DIGITS}
        currency="USD"
        {...form.getInputProps('reported_cost')}
      />
      <CountField label="Model calls" {...form.getInputProps('requests')} />
      <TextInput label="Provider" placeholder="The model’s vendor" {...form.getInputProps('provider')} />
    </SimpleGrid>
  </Stack>
)

export const isMissing = (text: string) => (text.trim() === '' ? 'Required.' : null)

/** The checks of the figures that the server would make, too. */
export const FIGURE_CHECKS = {
  model: isMissing,
  started_at: (at: string | null) => (at ? null : 'Required.'),
  ended_at: (at: string | null) => (at ? null : 'Required.'),
  input: (count: number | string) => (count === '' ? 'Required. Enter 0 if none.' : null),
  output: (count: number | string) => (count === '' ? 'Required. Enter 0 if none.' : null),
}
