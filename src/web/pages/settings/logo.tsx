import { Button, FileButton, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { Caption } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { putPicture } from '../../server/picture.ts'
import { useSend } from '../../server/send.ts'

const PATH = '/api/v1/settings/logo'

/** The logo on bills. It is saved at once, separately from the form around it. */
export function Logo({ type }: { type: string | null }) {
  // Changes the URL, so that the browser loads the new logo.
  const [version, setVersion] = useState(0)
  const changes = ['me', 'settings', 'audit'] as const
  const put = useSend({
    send: (file: File) => putPicture(PATH, file),
    changes,
    done: () => 'Logo saved. Bills sent from now on show it.',
    after: () => setVersion((before) => before + 1),
    quiet: true,
  })
  const remove = useSend({
    send: () => answer(api.settings.logo.delete()),
    changes,
    done: () => 'Logo removed. Bills sent from now on have no logo.',
    quiet: true,
  })
  const refusal = put.error ?? remove.error
  return (
    <div>
      <Text size="sm" fw={600}>
        Logo
      </Text>
      <Caption mb={6}>PNG or JPEG, up to 256 KiB and 2,000 pixels per side. Used on bills sent from now on.</Caption>
      <Group gap="sm">
        {type && (
          <img
            key={version}
            src={`${PATH}?${version}`}
            alt="Logo as shown on bills"
            style={{ maxHeight: 64, maxWidth: 224, background: 'white', padding: 4 }}
          />
        )}
        <FileButton accept="image/png,image/jpeg" onChange={(file) => file && put.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={put.isPending}>
              {type ? 'Replace logo' : 'Upload logo'}
            </Button>
          )}
        </FileButton>
        {type && (
          <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Remove logo
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
