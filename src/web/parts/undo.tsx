import { Anchor } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** Long enough to notice a mistake and undo it. */
const UNDO_MS = 10_000

/** Shows a notification with an action that undoes the change. */
export function tellUndo(message: string, label: string, undo: () => void): void {
  const id: string = notifications.show({
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
