import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link, useLocation } from 'wouter'
import { asProblem, type Problem } from '../server/problem.ts'
import { Caption } from './texts.tsx'

interface FailureProps {
  error: unknown
  /** Offers a retry. */
  retry?: () => unknown
}

/** An error in place of the content: what happened, and what to do. */
export const Failure = ({ error, retry }: FailureProps) => {
  const problem = asProblem(error)
  const [path] = useLocation()
  const list = `/${path.split('/')[1]}`
  const isMissing = problem.status === 404
  const names = filtersOf(problem)
  const isOfAddress = names !== undefined
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={problem.title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {isOfAddress
            ? `The address of this page has a filter that isn’t valid: ${names.join(', ')}. Remove the filters to see everything.`
            : problem.message}
        </Text>
        {!isOfAddress &&
          problem.issues.map(({ pointer, message }) => (
            <Text size="sm" key={pointer}>
              {pointer} {message}
            </Text>
          ))}
        {problem.requestId && problem.status >= 500 && (
          <Caption>Request ID in the server log: {problem.requestId}</Caption>
        )}
        {isOfAddress && (
          <Button component={Link} href={path} size="xs" variant="default">
            Remove filters
          </Button>
        )}
        {isMissing && path !== list && (
          <Button component={Link} href={list} size="xs" variant="default">
            Go back to the list
          </Button>
        )}
        {retry && !isOfAddress && !isMissing && (
          <Button size="xs" variant="default" onClick={() => retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** The filters of the address that the server refused; undefined if it refused something else as well. */
function filtersOf({ issues }: Problem): string[] | undefined {
  if (issues.length === 0 || !issues.every(({ pointer }) => pointer.startsWith('/query/'))) return undefined
  return [...new Set(issues.map(({ pointer }) => pointer.split('/')[2]!.replaceAll('_', ' ')))]
}
