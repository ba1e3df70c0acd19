/** The fields of an entry's figures, in forms. */
import { SimpleGrid, Stack, TextInput } from '@mantine/core'
import { COST_DIGITS, CountField, DecimalField } from '../number-fields.tsx'
import { Caption } from '../texts.tsx'
import { COUNTS, type FigureValues } from './figure-values.ts'

/** A form with at least the figures of an entry. */
export interface FigureForm {
  getInputProps: (field: keyof FigureValues) => object
}

interface FigureFieldsProps {
  form: FigureForm
  /** Only the cost is known: the counts are 0. */
  isCostOnly?: boolean
  /** Optional fields that the organization requires. */
  required?: readonly string[]
}

export const FigureFields = ({ form, isCostOnly = false, required = [] }: FigureFieldsProps) => (
  <Stack gap={4}>
    {!isCostOnly && <Counts form={form} />}
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs" mt={4}>
      <DecimalField
        label="Cost (USD)"
        placeholder={isCostOnly ? undefined : 'From the price table'}
        required={isCostOnly || required.includes('reported_cost')}
        min={0}
        digits={COST_DIGITS}
        currency="USD"
        {...form.getInputProps('reported_cost')}
      />
      <CountField label="Model calls" required={required.includes('requests')} {...form.getInputProps('requests')} />
      <TextInput
        label="Provider"
        placeholder="The model’s vendor"
        required={required.includes('provider')}
        {...form.getInputProps('provider')}
      />
    </SimpleGrid>
  </Stack>
)

const Counts = ({ form }: { form: FigureForm }) => (
  <>
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
    <Caption>
      Each token counts only once: input excludes tokens read from or written to a cache. You can write 515k or 1.23M.
    </Caption>
  </>
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
