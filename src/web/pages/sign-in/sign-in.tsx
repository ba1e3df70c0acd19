import { AuthLayout } from '../../parts/auth-layout.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** At whatever address one came to: signed in, that page is shown. */
export default function SignIn() {
  return (
    <AuthLayout title="Sign in to Tally">
      <SignInForm />
    </AuthLayout>
  )
}
