import { Radio, Stack } from '@mantine/core'
import type { Action } from './entry.ts'

export type LaterReports = NonNullable<Action['later_reports']>

interface LaterReportsFieldProps {
  value: LaterReports
  change: (value: LaterReports) => void
}

/** What happens to later reports of the session of an entry that is voided. */
export const LaterReportsField = ({ value, change }: LaterReportsFieldProps) => (
  <Radio.Group label="If the session continues" value={value} onChange={(chosen) => change(chosen as LaterReports)}>
    <Stack gap="xs" mt="xs">
      <Radio value="new_part" label="Count what it uses from now on" />
      <Radio value="ignore" label="Ignore it" />
    </Stack>
  </Radio.Group>
)
