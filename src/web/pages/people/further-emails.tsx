import { Alert, Button, Skeleton, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'

/** Addresses under which agents push what is theirs. */
export function FurtherEmails({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['users', id, 'emails'],
    queryFn: () => answer(api.users({ id }).emails.get()),
  })
  if (!data) return <Skeleton height={60} />
  return <EmailsForm key={data.emails.join()} id={id} known={data.emails} />
}

function EmailsForm({ id, known }: { id: string; known: string[] }) {
  const [emails, setEmails] = useState(known)
  const save = useSend({
    send: () => answer(api.users({ id }).emails.put({ emails })),
    changes: ['users', 'telemetry', 'audit'],
    done: () => 'Saved.',
    quiet: true,
  })
  return (
    <Stack gap="xs">
      <TagsInput
        label="Further e-mail addresses"
        description="Under which their agents push telemetry, where the settings place it by e-mail address. Enter after each."
        splitChars={[',', ' ', ';']}
        acceptValueOnBlur
        value={emails}
        onChange={setEmails}
      />
      {save.error && (
        <Alert color="red" variant="light" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Button variant="default" w="fit-content" loading={save.isPending} onClick={() => save.mutate()}>
        Save the addresses
      </Button>
    </Stack>
  )
}
