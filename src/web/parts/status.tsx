import { Badge, type MantineColor } from '@mantine/core'

/** One colour for each meaning on all pages: grey waits, blue is under way, green is done, red is refused. */
const COLORS: Record<string, MantineColor> = {
  submitted: 'gray',
  draft: 'gray',
  open: 'gray',
  pending: 'blue',
  approved: 'teal',
  billed: 'violet',
  rejected: 'red',
  returned: 'orange',
  sent: 'blue',
  paid: 'teal',
  void: 'red',
  queued: 'blue',
  failed: 'red',
  none: 'gray',
  usable: 'teal',
  active: 'teal',
  expired: 'orange',
  revoked: 'red',
  stopped: 'red',
  disabled: 'red',
}

/** The state of an entry, a sheet, a bill or a delivery, in its own word. */
export const Status = ({ of }: { of: string }) => (
  <Badge variant="light" color={COLORS[of] ?? 'gray'} size="sm" radius="sm" tt="none" fw={600}>
    {of}
  </Badge>
)
