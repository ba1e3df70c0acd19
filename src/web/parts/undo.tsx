import { Anchor } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** Long enough to read it, see that it was the wrong one, and reach it. */
const UNDO_MS = 10_000

/** Told in passing, with what takes it back. */
export function tellUndo(message: string, label: string, undo: () => void): void {
  const id = crypto.randomUUID()
  notifications.show({
    id,
    color: 'teal',
    autoClose: UNDO_MS,
    message: (
      <>
        {message}{' '}
        <Anchor
          component="button"
          type="button"
          size="sm"
          fw={600}
          onClick={() => {
            notifications.hide(id)
            undo()
          }}
        >
          {label}
        </Anchor>
      </>
    ),
  })
}
