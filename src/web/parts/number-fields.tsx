/** Fields for numbers, which read what people paste (`format/read-numbers.ts`) and never change it silently. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { type FocusEvent, useState } from 'react'
import { type DecimalRules, type NumberRead, plainNumber, readCount, readDecimal } from '../format/read-numbers.ts'

/** Decimals of costs: nano-dollars. */
export const COST_DIGITS = 9

/** Decimals of markups and tax rates, in percent. */
export const PERCENT_DIGITS = 4

interface NumberFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'min' | 'max' | 'defaultValue'> {
  /**
   * An empty string if nothing is typed, NaN if the text can't be read: the field then shows why, and `useFormSend` does
   * not submit its form. Optional, because `form.getInputProps` does not declare it.
   */
  value?: number | string
  onChange?: (value: number | '') => void
  min?: number
  max?: number
  /** Follows the number: `%`, `days`. */
  unit?: string
}

/** A whole number, such as a count of tokens. */
export const CountField = ({ min, max, ...props }: NumberFieldProps) => (
  <NumberField inputMode="numeric" read={(text) => readCount(text, { min, max, unit: props.unit })} {...props} />
)

interface DecimalFieldProps extends NumberFieldProps, Pick<DecimalRules, 'currency' | 'digits'> {}

/** A number with decimals: an amount of a currency, a percentage. */
export const DecimalField = ({ min, max, currency, digits, ...props }: DecimalFieldProps) => (
  <NumberField
    inputMode="decimal"
    read={(text) => readDecimal(text, { digits, currency, min, max, unit: props.unit })}
    {...props}
  />
)

const valueOfRead = (read: NumberRead): number | '' => ('issue' in read ? Number.NaN : read.value)

interface ReadingFieldProps extends Omit<NumberFieldProps, 'min' | 'max'> {
  read: (text: string) => NumberRead
}

function NumberField({ read, unit, value = '', onChange, onBlur, onKeyDown, error, ...props }: ReadingFieldProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const [isEditing, setEditing] = useState(false)
  // What was typed is discarded once the form has another value: it was reset, or loaded.
  const text = typed !== null && Object.is(valueOfRead(read(typed)), value) ? typed : textOf(value, unit)
  const result = read(text)
  return (
    <TextInput
      autoComplete="off"
      spellCheck={false}
      {...props}
      value={text}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        setEditing(true)
        onChange?.(valueOfRead(read(currentTarget.value)))
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') setEditing(false)
        onKeyDown?.(event)
      }}
      onBlur={(event: FocusEvent<HTMLInputElement>) => {
        setEditing(false)
        if (!('issue' in result)) setTyped(null)
        onBlur?.(event)
      }}
      error={'issue' in result && !isEditing ? result.issue : error}
    />
  )
}

const textOf = (value: number | string, unit: string | undefined): string => {
  if (typeof value === 'string' || Number.isNaN(value)) return typeof value === 'string' ? value : ''
  return `${plainNumber(value)}${unit === undefined ? '' : unit === '%' ? '%' : ` ${unit}`}`
}
