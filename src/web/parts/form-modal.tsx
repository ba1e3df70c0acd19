/** A dialog for a form. Esc, a click outside or the cross asks before it discards what was entered; Cancel does not. */
import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { DiscardQuestion, noting } from './discard-question.tsx'

interface FormModalProps extends ModalProps {
  /** Whether what was entered is saved, and the dialog only shows what came of it. */
  isSaved?: boolean
}

export function FormModal({ opened, onClose, isSaved = false, children, ...props }: FormModalProps) {
  const [isChanged, setChanged] = useState(false)
  const [isAsking, setAsking] = useState(false)
  // After the key that closes one dialog: the other one listens to the same press.
  const ask = (isAsking: boolean) => void setTimeout(() => setAsking(isAsking))
  const leave = () => {
    setAsking(false)
    setChanged(false)
    onClose()
  }
  // What was sent is not discarded, and the next time the form is new.
  useEffect(() => {
    if (opened) return
    setChanged(false)
    setAsking(false)
  }, [opened])
  return (
    <>
      <Modal
        {...props}
        opened={opened}
        onClose={() => (isChanged && !isSaved ? ask(true) : leave())}
        closeOnEscape={!isAsking}
        trapFocus={!isAsking}
      >
        <div {...noting(() => setChanged(true))}>{children}</div>
      </Modal>
      <DiscardQuestion isOpen={opened && isAsking} keep={() => ask(false)} discard={leave} />
    </>
  )
}
