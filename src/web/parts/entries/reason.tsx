import { Textarea } from '@mantine/core'

/** The API's limit. */
const REASON_LIMIT = 1_000

export const Reason = ({ value, change }: { value: string; change: (reason: string) => void }) => (
  <Textarea
    label="Reason"
    required
    data-autofocus
    autosize
    minRows={2}
    maxLength={REASON_LIMIT}
    placeholder="Counted twice, a test run, …"
    value={value}
    onChange={({ currentTarget }) => change(currentTarget.value.replaceAll('\n', ' '))}
  />
)
