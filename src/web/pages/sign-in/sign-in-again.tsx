import { Modal, Stack, Text } from '@mantine/core'
import type { Me } from '../../server/me.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Above every dialogue and message, of which the highest stands at 400. */
const ON_TOP = 1_000

/**
 * Over a page whose session ended: it hides all of it, as nobody knows who sits there now, and gives it back as it was,
 * with what was typed.
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
      <Text size="sm">The session has ended. The page behind this is as you left it, with what you typed.</Text>
      <SignInForm before={person} />
    </Stack>
  </Modal>
)

export default SignInAgain
