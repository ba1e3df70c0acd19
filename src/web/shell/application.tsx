/** Shows the pages for visitors without a session, or the shell with all other pages. */

import { Button, Code, Container, Stack, Text, Title } from '@mantine/core'
import { Component, lazy, type ReactNode, Suspense, useState } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { Failure } from '../parts/failure.tsx'
import { isUnused, type Me, MeProvider, mayBeSignedIn, useSignedIn } from '../server/me.ts'
import { ACCOUNT, sectionsFor, THINGS } from './navigation.ts'
import { NotFound } from './not-found.tsx'
import { PageLoading } from './page-loading.tsx'
import { Shell } from './shell.tsx'

const SignIn = lazy(() => import('../pages/sign-in/sign-in.tsx'))
const SignInLink = lazy(() => import('../pages/sign-in/sign-in-link.tsx'))
const SignInAgain = lazy(() => import('../pages/sign-in/sign-in-again.tsx'))
const SetUp = lazy(() => import('../pages/set-up/set-up.tsx'))
const Password = lazy(() => import('../pages/password/password.tsx'))

export function Application() {
  return (
    <ErrorBoundary>
      <Suspense fallback={<PageLoading />}>
        <Switch>
          <Route path="/setup" component={SetUp} />
          <Route path="/password" component={Password} />
          <Route path="/sign-in" component={SignInLink} />
          <Route component={SignedIn} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
}

function SignedIn() {
  const { data, error, isPending, refetch } = useSignedIn()
  const [path] = useLocation()
  const section = path.split('/')[1]
  const [last, setLast] = useState<Me | null>(null)
  if (data && data !== last) setLast(data)
  if (isPending) return <PageLoading />
  // If the person is already known, keep the page and what was typed into it.
  if (error && !data) return <Failure error={error} retry={refetch} />
  // Also if the session expired; after signing out, nothing is kept.
  const me = data ?? (mayBeSignedIn() ? last : null)
  if (!me) return isUnused() ? <SetUp /> : <SignIn />
  return (
    <MeProvider value={me}>
      <Shell key={`${me.person.id} ${me.preferences.locale ?? me.settings.locale}`}>
        {/* An error in one section does not affect the others. */}
        <ErrorBoundary key={section}>
          <Suspense fallback={<PageLoading />}>
            <Switch>
              {sectionsFor(me).map(({ path, page }) => (
                // A section handles all paths below it: `/bills/new`, `/bills/bil_…`.
                <Route key={path} path={path === '/' ? '/' : new RegExp(`^${path}(?:/|$)`)} component={page} />
              ))}
              {me.person.role !== 'viewer' && (
                <Route path={new RegExp(`^${THINGS.path}(?:/|$)`)} component={THINGS.page} />
              )}
              <Route path="/account" component={ACCOUNT} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </Shell>
      {!data && (
        <Suspense>
          <SignInAgain person={me.person} />
        </Suspense>
      )}
    </MeProvider>
  )
}

interface State {
  error: Error | null
  isUnreachable: boolean
}

/**
 * Catches errors of the application itself, and parts of it that fail to load: because the server is down, or because
 * a page that was open during an upgrade requests files that no longer exist. Reloading fixes both.
 */
class ErrorBoundary extends Component<{ children: ReactNode }, State> {
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
