import { Button, FileButton, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../../server/api.ts'
import { putPicture } from '../../server/picture.ts'
import { useSend } from '../../server/send.ts'

const PATH = '/api/v1/settings/logo'

/** The picture on bills; kept at once, apart from the form around it. */
export function Logo({ type }: { type: string | null }) {
  // Another picture at the same address: the number makes the browser ask for it.
  const [version, setVersion] = useState(0)
  const changes = ['me', 'settings', 'audit'] as const
  const put = useSend({
    send: (file: File) => putPicture(PATH, file),
    changes,
    done: () => 'Bills that are sent from now on have this picture.',
    after: () => setVersion((before) => before + 1),
    quiet: true,
  })
  const remove = useSend({
    send: () => answer(api.settings.logo.delete()),
    changes,
    done: () => 'Bills that are sent from now on have no picture.',
    quiet: true,
  })
  const refusal = put.error ?? remove.error
  return (
    <div>
      <Text size="sm" fw={600}>
        Picture
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        PNG or JPEG, up to 256 KiB and 2,000 pixels on each side. On bills that are sent from now on.
      </Text>
      <Group gap="sm">
        {type && (
          <img
            key={version}
            src={`${PATH}?${version}`}
            alt="As bills show it"
            style={{ maxHeight: 64, maxWidth: 224, background: 'white', padding: 4 }}
          />
        )}
        <FileButton accept="image/png,image/jpeg" onChange={(file) => file && put.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={put.isPending}>
              {type ? 'Choose another' : 'Choose a picture'}
            </Button>
          )}
        </FileButton>
        {type && (
          <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Take it off
          </Button>
        )}
      </Group>
      {refusal && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert" mt={4}>
          {refusal.message}
        </Text>
      )}
    </div>
  )
}
