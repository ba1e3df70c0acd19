/** Signing in with the one-time link that `tally up` opens. */
import { Anchor, Code, Loader, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Redirect } from 'wouter'
import { AuthLayout } from '../../parts/auth-layout.tsx'
import { answer, api } from '../../server/api.ts'
import { Problem } from '../../server/problem.ts'

const WrongLink = () => (
  <>
    This link works once and for 60 seconds, and was used or has expired. Run <Code>tally up</Code> again.
  </>
)

export default function SignInLink() {
  const [linkToken] = useState(() => location.hash.slice(1))
  const [error, setError] = useState<Error>()
  const isSent = useRef(false)
  useEffect(() => {
    if (linkToken === '' || isSent.current) return
    isSent.current = true
    // First, so that it stays neither in the address bar nor in the history of the browser.
    history.replaceState(null, '', '/sign-in')
    // Loaded anew, so that nothing is left of somebody who was signed in in this browser.
    answer(api.session.link.post({ link_token: linkToken })).then(() => location.replace('/'), setError)
  }, [linkToken])
  useEffect(() => {
    // The next link, opened on this page.
    const reload = () => location.reload()
    addEventListener('hashchange', reload)
    return () => removeEventListener('hashchange', reload)
  }, [])
  if (linkToken === '') return <Redirect to="/" />
  if (!error) {
    return (
      <AuthLayout title="Signing in">
        <Loader size="sm" role="status" aria-label="Signing in" />
      </AuthLayout>
    )
  }
  return (
    <AuthLayout title="Sign in to Tally">
      <Text size="sm" role="alert">
        {error instanceof Problem && error.status === 401 ? <WrongLink /> : error.message}
      </Text>
      <Anchor href="/" size="sm">
        Sign in with a password
      </Anchor>
    </AuthLayout>
  )
}
