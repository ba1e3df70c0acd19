import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Component, type ReactNode } from 'react'

/**
 * A fault of the application itself, or a part of it that could not be loaded. After an upgrade a page that was left open
 * asks for parts that are gone: loading it again mends that.
 */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <Container size="xs" py="xl">
        <Stack role="alert">
          <Title order={1} size="h3">
            This page cannot be shown
          </Title>
          <Text>
            Tally may have been upgraded while it was open. Loading it again mostly mends that; nothing is lost.
          </Text>
          <Code block>{error.message}</Code>
          <Button onClick={() => location.reload()} w="fit-content">
            Load again
          </Button>
        </Stack>
      </Container>
    )
  }
}
