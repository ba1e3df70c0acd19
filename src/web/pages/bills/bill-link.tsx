import { Anchor } from '@mantine/core'
import { Link } from 'wouter'

export const BillLink = ({ id, number }: { id: string; number: string }) => (
  <Anchor component={Link} href={`/bills/${id}`} size="sm" me={6}>
    {number}
  </Anchor>
)
