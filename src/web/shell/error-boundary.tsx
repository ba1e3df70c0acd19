import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Component, type ReactNode } from 'react'

interface State {
  error: Error | null
  isUnreachable: boolean
}

/**
 * Catches errors of the application itself, and parts of it that fail to load: because the server is down, or because
 * a page that was open during an upgrade requests files that no longer exist. Reloading fixes both.
 */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null, isUnreachable: false }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  /** Checks the server first: without it, the browser would replace this page with its own error page. */
  loadAgain = async () => {
    const answered = await fetch(location.href, { method: 'HEAD' }).then(
      () => true,
      () => false,
    )
    if (answered) location.reload()
    else this.setState({ isUnreachable: true })
  }

  override render() {
    const { error, isUnreachable } = this.state
    if (!error) return this.props.children
    return (
      <Container size="xs" py="xl">
        <Stack role="alert">
          <Title order={1} size="h3">
            This page couldn’t be loaded
          </Title>
          <Text>
            {isUnreachable
              ? 'Tally is not responding. Reload the page once the server is running.'
              : 'Tally may be unreachable, or it was upgraded while this page was open. Reloading usually fixes this.'}
          </Text>
          <Code block>{error.message}</Code>
          <Button onClick={this.loadAgain} w="fit-content">
            Reload
          </Button>
        </Stack>
      </Container>
    )
  }
}
