import { Badge, type MantineColor } from '@mantine/core'

/** Colors by meaning: grey is waiting, blue is in progress, green is done, red is rejected or failed. */
const COLORS: Record<string, MantineColor> = {
  submitted: 'gray',
  draft: 'gray',
  open: 'gray',
  pending: 'blue',
  approved: 'teal',
  billed: 'violet',
  rejected: 'red',
  held: 'orange',
  discarded: 'red',
  voided: 'red',
  returned: 'orange',
  sent: 'blue',
  overdue: 'orange',
  paid: 'teal',
  void: 'red',
  queued: 'blue',
  failed: 'red',
  failing: 'orange',
  suspended: 'orange',
  delivered: 'teal',
  none: 'gray',
  usable: 'teal',
  active: 'teal',
  expired: 'orange',
  revoked: 'red',
  stopped: 'red',
  disabled: 'red',
  erased: 'gray',
  ready: 'blue',
  blocked: 'orange',
  'nothing to bill': 'gray',
}

/** The status of an entry, sheet, bill, webhook or delivery, by its API value. */
export const Status = ({ of }: { of: string }) => (
  <Badge variant="light" color={COLORS[of] ?? 'gray'} size="sm" radius="sm" tt="none" fw={500} flex="none">
    {of}
  </Badge>
)
