/** Replaces a secret by a new one, which is shown once. The old one may work for a while longer. */
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { useSend } from '../server/send.ts'
import { Refusal } from './form.tsx'

interface RotationProps<Made> {
  title: string
  /** What is created, and what for. */
  about: string
  /** What is chosen for the old secret, and the choices by hours. */
  overlap: { label: string; choices: Record<'0' | '1' | '24' | '168', string> }
  /** The verb on the button: "Rotate token". */
  action: string
  rotate: ReturnType<typeof useSend<number, Made>>
  /** Shows the new secret. */
  once: (made: Made) => ReactNode
  close: () => void
}

export function Rotation<Made>({ title, about, overlap, action, rotate, once, close }: RotationProps<Made>) {
  const [hours, setHours] = useState('24')
  const { data, error, isPending } = rotate
  return (
    <Modal opened onClose={close} title={title} closeOnClickOutside={false} closeOnEscape={data === undefined}>
      {data ? (
        <Stack>
          {once(data)}
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <Refusal text={error?.message} />
          <Text size="sm">{about}</Text>
          <Select
            label={overlap.label}
            data={Object.entries(overlap.choices).map(([value, label]) => ({ value, label }))}
            value={hours}
            onChange={(value) => setHours(value ?? '24')}
            allowDeselect={false}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button onClick={() => rotate.mutate(Number(hours))} loading={isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
