import { Textarea } from '@mantine/core'
import type { ReactNode } from 'react'

interface ReasonProps {
  value: string
  change: (reason: string) => void
  error?: ReactNode
  placeholder?: string
}

export const Reason = ({ value, change, error, placeholder = 'Counted twice, a test run, …' }: ReasonProps) => (
  <Textarea
    label="Reason"
    required
    data-autofocus
    autosize
    minRows={2}
    placeholder={placeholder}
    value={value}
    error={error}
    onChange={({ currentTarget }) => change(currentTarget.value.replaceAll('\n', ' '))}
  />
)
