import { Button, Skeleton, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Refusal } from '../../parts/form.tsx'
import { answer, api, apiUntil } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'

/** More e-mail addresses whose telemetry belongs to the person. */
export function FurtherEmails({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['users', id, 'emails'],
    queryFn: ({ signal }) => answer(apiUntil(signal).users({ id }).emails.get()),
  })
  if (!data) return <Skeleton height={60} />
  return <EmailsForm key={data.emails.join()} id={id} known={data.emails} />
}

function EmailsForm({ id, known }: { id: string; known: string[] }) {
  const [emails, setEmails] = useState(known)
  const save = useSend({
    send: () => answer(api.users({ id }).emails.put({ emails })),
    changes: ['users', 'telemetry', 'audit'],
    done: () => 'E-mail addresses saved.',
    quiet: true,
  })
  return (
    <Stack gap="xs">
      <TagsInput
        label="Additional e-mail addresses"
        description="If telemetry is assigned by e-mail address (see Settings), telemetry with one of these belongs to this person. Press Enter after each."
        splitChars={[',', ' ', ';']}
        acceptValueOnBlur
        value={emails}
        onChange={setEmails}
      />
      <Refusal text={save.error?.message} />
      <Button variant="default" w="fit-content" loading={save.isPending} onClick={() => save.mutate()}>
        Save addresses
      </Button>
    </Stack>
  )
}
