/** Where something is that an admin can turn on: the way to the setting, or whom to ask. */
import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useRole } from '../server/me.ts'

export const SettingOff = ({ what }: { what: string }) => (
  <Text size="sm">
    {what} are turned off.{' '}
    {useRole('admin') ? (
      <Anchor component={Link} href="/settings" inherit>
        Turn them on in the settings
      </Anchor>
    ) : (
      'Ask an administrator to turn them on.'
    )}
  </Text>
)
