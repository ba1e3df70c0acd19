import { Alert, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyLine } from '../../parts/copy-line.tsx'

/** The secret of a webhook's signatures, which is shown only once. */
export const SecretOnce = ({ secret }: { secret: string }) => (
  <Alert color="teal" variant="light" icon={<IconKey />} title="Copy the secret now">
    <Stack gap="xs">
      <Text size="sm">
        Your receiver checks signatures with it, so that nobody else can send it events. You cannot see it again, but
        you can replace it.
      </Text>
      <CopyLine text={secret} label="Copy secret" />
    </Stack>
  </Alert>
)
