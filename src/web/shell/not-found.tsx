import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { Empty } from '../parts/empty.tsx'

export const NotFound = () => (
  <Empty
    title="Page not found"
    isPage
    action={
      <Button component={Link} href="/" variant="light">
        Go to overview
      </Button>
    }
  >
    The address may be mistyped, or this is a page you can’t access.
  </Empty>
)
