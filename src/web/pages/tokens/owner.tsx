import { useMe } from '../../server/me.ts'

/** Whose a token or a machine is. */
export function Owner({ user }: { user: { id: string; name: string; email: string } }) {
  const { person } = useMe()
  return user.id === person.id ? <>you</> : <bdi title={user.email}>{user.name}</bdi>
}
