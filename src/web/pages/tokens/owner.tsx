import { PersonPicker } from '../../parts/pickers.tsx'
import { useMe } from '../../server/me.ts'

/** Whose a token or a machine is. */
export function Owner({ user }: { user: { id: string; name: string; email: string } }) {
  const { person } = useMe()
  return user.id === person.id ? <>you</> : <bdi title={user.email}>{user.name}</bdi>
}

/** Narrows a list to what is one person's, by their e-mail address. */
export function OwnerFilter({
  user,
  choose,
}: {
  user: string | undefined
  choose: (user: string | undefined) => void
}) {
  return (
    <PersonPicker
      aria-label="Owner"
      placeholder="Any owner"
      value={user ? { value: user, label: user } : null}
      change={(choice) => choose(choice?.detail ?? undefined)}
    />
  )
}
