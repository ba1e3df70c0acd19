import { Alert, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyLine } from './copy-line.tsx'

/** A new token's secret, which is shown only once. */
export const TokenOnce = ({ secret }: { secret: string }) => (
  <Alert color="teal" variant="light" icon={<IconKey />} title="Copy the token now">
    <Stack gap="xs">
      <Text size="sm">Tally does not store it, so you cannot see it again. Anyone who has the token can use it.</Text>
      <CopyLine text={secret} label="Copy token" />
    </Stack>
  </Alert>
)
