import { AuthLayout } from '../../parts/auth-layout.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Shown at any address; after sign-in, the page at that address appears. */
export default function SignIn() {
  return (
    <AuthLayout title="Sign in to Tally">
      <SignInForm />
    </AuthLayout>
  )
}
