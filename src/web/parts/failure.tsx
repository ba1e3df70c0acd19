import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { Problem } from '../server/problem.ts'

interface FailureProps {
  problem: Problem
  /** Offers a retry. */
  retry?: () => unknown
}

/** An error in place of the content: what happened, and what to do. */
export const Failure = ({ problem, retry }: FailureProps) => (
  <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={problem.title} role="alert">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">{problem.message}</Text>
      {problem.issues.map(({ pointer, message }) => (
        <Text size="sm" key={pointer}>
          {pointer} {message}
        </Text>
      ))}
      {problem.requestId && problem.status >= 500 && (
        <Text size="xs" c="dimmed">
          Request ID in the server log: {problem.requestId}
        </Text>
      )}
      {retry && (
        <Button size="xs" variant="default" onClick={() => retry()}>
          Try again
        </Button>
      )}
    </Stack>
  </Alert>
)
