import { Modal, Stack, Text } from '@mantine/core'
import type { Me } from '../../server/me.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Above all dialogs and notifications, which use up to 400. */
const ON_TOP = 1_000

/**
 * Covers a page whose session has ended, because someone else may be at the screen now, and restores it after sign-in
 * with everything that was typed.
 */
const SignInAgain = ({ person }: { person: Me['person'] }) => (
  <Modal
    opened
    onClose={() => {}}
    withCloseButton={false}
    closeOnEscape={false}
    closeOnClickOutside={false}
    title="Sign in again"
    overlayProps={{ color: 'var(--mantine-color-body)', backgroundOpacity: 1 }}
    zIndex={ON_TOP}
  >
    <Stack>
      <Text size="sm">
        Your session has ended. Sign in to return to the page as you left it, with everything you typed.
      </Text>
      <SignInForm before={person} />
    </Stack>
  </Modal>
)

export default SignInAgain
