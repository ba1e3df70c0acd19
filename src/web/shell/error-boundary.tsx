import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Component, type ReactNode } from 'react'

interface State {
  error: Error | null
  isUnreachable: boolean
}

/**
 * An issue of the application itself, or a part of it that could not be loaded: the server does not answer, or after an
 * upgrade a page that was left open asks for parts that are gone. Loading it again mends both.
 */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null, isUnreachable: false }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  /** Without a server there would be the browser's own page instead, and nothing of this one. */
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
            This page cannot be shown
          </Title>
          <Text>
            {isUnreachable
              ? 'Tally does not answer. Load the page again when the server runs.'
              : 'Tally may not have answered, or was upgraded while this was open. Loading the page again mostly mends that.'}
          </Text>
          <Code block>{error.message}</Code>
          <Button onClick={this.loadAgain} w="fit-content">
            Load again
          </Button>
        </Stack>
      </Container>
    )
  }
}
