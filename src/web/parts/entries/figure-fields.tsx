/** The fields of an entry's figures, in forms. */
import { NumberInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { COUNTS, type FigureValues } from './figure-values.ts'

/** A form with at least the figures of an entry. */
export interface FigureForm {
  getInputProps: (field: keyof FigureValues) => object
}

export const FigureFields = ({ form }: { form: FigureForm }) => (
  <Stack gap={4}>
    <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="xs">
      {COUNTS.map(({ kind, title, isRequired }) => (
        <NumberInput
          key={kind}
          label={title}
          required={isRequired}
          placeholder={isRequired ? undefined : '0'}
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          hideControls
          {...form.getInputProps(kind)}
        />
      ))}
    </SimpleGrid>
    <Text size="xs" c="dimmed">
      Each token counts only once: input excludes tokens read from or written to a cache.
    </Text>
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs" mt={4}>
      <NumberInput
        label="Cost (USD)"
        placeholder="From the price table"
        min={0}
        hideControls
        {...form.getInputProps('reported_cost')}
      />
      <NumberInput
        label="Model calls"
        min={0}
        allowDecimal={false}
        thousandSeparator=","
        hideControls
        {...form.getInputProps('requests')}
      />
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
