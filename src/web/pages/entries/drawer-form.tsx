/**
 * A form inside of the entry's drawer, which keeps the drawer open: Esc closes the form first, and whatever leaves the
 * entry asks before what was entered is discarded.
 */
import { useDidUpdate } from '@mantine/hooks'
import {
  createContext,
  type Dispatch,
  type FormEventHandler,
  type ReactNode,
  type SetStateAction,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { DiscardQuestion, noting } from '../../parts/discard-question.tsx'

/** Does what leaves the form, at once or after the question. */
export type LeaveForm = (leave: () => void) => void

/** Where an open form says how it is left; null while there is none. */
export const OpenForm = createContext<Dispatch<SetStateAction<LeaveForm | null>>>(() => {})

const FIRST_FIELD = 'input:not([type="radio"]), textarea'

/** An open list of choices closes with the first Esc; Mantine marks its field. */
const isOfList = (field: EventTarget | null) =>
  (field as HTMLElement | null)?.getAttribute?.('data-mantine-stop-propagation') === 'true'

interface DrawerFormProps {
  submit: FormEventHandler<HTMLFormElement>
  close: () => void
  children: ReactNode
}

export function DrawerForm({ submit, close, children }: DrawerFormProps) {
  const setOpen = useContext(OpenForm)
  const frame = useRef<HTMLFormElement>(null)
  const isChanged = useRef(false)
  const [leaving, setLeaving] = useState<(() => void) | null>(null)
  useEffect(() => {
    const field = frame.current?.querySelector<HTMLElement>(FIRST_FIELD)
    // The drawer moves the focus a moment after it has opened, which may be after the form.
    field?.setAttribute('data-autofocus', '')
    field?.focus()
    setOpen(() => (leave: () => void) => (isChanged.current ? setLeaving(() => leave) : leave()))
    return () => setOpen(null)
  }, [setOpen])
  useEffect(() => {
    if (leaving) return
    const closeAtEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || isOfList(event.target)) return
      // After the key: the drawer and the question listen to the same press.
      setTimeout(() => (isChanged.current ? setLeaving(() => close) : close()))
    }
    window.addEventListener('keydown', closeAtEscape, { capture: true })
    return () => window.removeEventListener('keydown', closeAtEscape, { capture: true })
  }, [leaving, close])
  return (
    <>
      <form
        ref={frame}
        onSubmit={submit}
        style={{ flex: 1 }}
        {...noting(() => {
          isChanged.current = true
        })}
      >
        {children}
      </form>
      <DiscardQuestion
        isOpen={leaving !== null}
        keep={() => setTimeout(() => setLeaving(null))}
        discard={() => {
          close()
          leaving?.()
        }}
      />
    </>
  )
}

/** The button that opens a form gets the focus back when the form is closed. */
export function useOpener(isOpen: boolean) {
  const opener = useRef<HTMLButtonElement>(null)
  useDidUpdate(() => {
    if (!isOpen) opener.current?.focus()
  }, [isOpen])
  return opener
}
