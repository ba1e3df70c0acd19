import { type DateFormatter, DateInput, type DateInputProps } from '@mantine/dates'
import { useState } from 'react'
import { dayInWords, monthInWords, readDay } from '../format/moments.ts'

/** How fields in which one only chooses show a month, and the days from one to another. */
export const monthFormatter: DateFormatter = ({ date }) => (date === null ? '' : monthInWords(`${date}`))
export const daysFormatter: DateFormatter = ({ date }) =>
  [date]
    .flat()
    .flatMap((day) => (day === null ? [] : dayInWords(`${day}`)))
    .join(' – ')

/**
 * A date to type, or to choose from a calendar, which opens on a click or the down arrow. Not with the focus, as that of
 * Mantine does: it would cover the fields that somebody goes through with Tab.
 */
export function DateField({ onClick, onKeyDown, onBlur, onChange, ...props }: DateInputProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <DateInput
      valueFormat={dayInWords}
      dateParser={readDay}
      {...props}
      popoverProps={{ ...props.popoverProps, opened: isOpen }}
      onClick={(event) => {
        onClick?.(event)
        setOpen(true)
      }}
      onKeyDown={(event) => {
        onKeyDown?.(event)
        if (event.key === 'ArrowDown') setOpen(true)
        else if (event.key === 'Escape') setOpen(false)
      }}
      onBlur={(event) => {
        onBlur?.(event)
        setOpen(false)
      }}
      onChange={(day) => {
        onChange?.(day)
        setOpen(false)
      }}
    />
  )
}
