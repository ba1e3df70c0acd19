import { Doorway } from '../../parts/doorway.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** At whatever address one came to: signed in, that page is shown. */
export default function SignIn() {
  return (
    <Doorway title="Sign in to Tally">
      <SignInForm />
    </Doorway>
  )
}
