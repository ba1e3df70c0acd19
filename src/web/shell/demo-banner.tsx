/** Says that the data is fictional: in full until it is dismissed, then with a word in the header. */
import { Badge, CloseButton, Group, Text, Tooltip } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { useMe } from '../server/me.ts'
import classes from './shell.module.css'

const useDismissed = () =>
  useSessionStorage({ key: 'tally-demo-dismissed', defaultValue: false, getInitialValueInEffect: false })

export function DemoBanner() {
  const { settings } = useMe()
  const [isDismissed, dismiss] = useDismissed()
  if (!settings.demo || isDismissed) return null
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between" className={`${classes.banner} tally-no-print`} role="note">
      <Text size="xs">
        Demo data.{' '}
        <span className={classes.instructions}>
          To remove it, stop the server and run <code className={classes.command}>tally demo --remove</code>.
        </span>
      </Text>
      <CloseButton size="xs" aria-label="Dismiss the note about demo data" onClick={() => dismiss(true)} />
    </Group>
  )
}

export function DemoBadge() {
  const { settings } = useMe()
  const [isDismissed] = useDismissed()
  if (!settings.demo || !isDismissed) return null
  return (
    <Tooltip label="This is demo data. To remove it, stop the server and run tally demo --remove.">
      <Badge color="yellow" variant="light">
        Demo
      </Badge>
    </Tooltip>
  )
}
